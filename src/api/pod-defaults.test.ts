import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { test } from 'node:test';
import { readTrees } from '../base/yaml-documents.ts';
import type { Container } from './container.ts';
import { imageTag, pullPolicyOf } from './image-name.ts';
import { decodeObject } from './object-decode.ts';
import type { Pod, PodSpec } from './pod.ts';
import { applyPodDefaults } from './pod-defaults.ts';
import { POD } from './pod-schema.ts';

const recorded = resolve(import.meta.dirname, '../../tests/recorded/pods');

const podWith = (spec: Partial<PodSpec>, container: Partial<Container> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: '' },
  spec: { containers: [{ name: 'c', image: 'x:1', ...container }], ...spec },
});

const containerOf = (pod: Pod): Container => {
  const [container] = applyPodDefaults(pod).spec.containers;
  assert.ok(container);
  return container;
};

/** What the API server fills in and a person does not write; taken away, it must come back. */
const DEFAULTED = new Map<string, readonly unknown[]>([
  ['terminationMessagePath', ['/dev/termination-log']],
  ['terminationMessagePolicy', ['File']],
  ['protocol', ['TCP']],
  ['timeoutSeconds', [1]],
  ['periodSeconds', [10]],
  ['successThreshold', [1]],
  ['failureThreshold', [3]],
  ['scheme', ['HTTP']],
  ['defaultMode', [420]],
  ['dnsPolicy', ['ClusterFirst']],
  ['schedulerName', ['default-scheduler']],
  ['enableServiceLinks', [true]],
]);

function undefaulted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(undefaulted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name, field]) => !DEFAULTED.get(name)?.includes(field));
  return Object.fromEntries(fields.map(([name, field]) => [name, undefaulted(field)]));
}

for (const file of globSync('*.json', { cwd: recorded })) {
  const life = JSON.parse(readFileSync(join(recorded, file), 'utf8')) as { readonly pod: Pod };

  test(`defaults: ${basename(file, '.json')} as the API server made it stays as it is`, () => {
    assert.deepEqual(applyPodDefaults(life.pod), life.pod);
  });

  test(`defaults: what was filled in to ${basename(file, '.json')} comes back`, () => {
    const bare = undefaulted(life.pod) as Pod;
    assert.notDeepEqual(bare, life.pod);
    assert.deepEqual(applyPodDefaults(bare), life.pod);
  });

  test(`decode: every field of ${basename(file, '.json')} is known`, () => {
    const read = readTrees(JSON.stringify(life.pod));
    assert.ok('trees' in read && read.trees[0] !== undefined);
    const decoded = decodeObject(POD, read.trees[0]);
    assert.deepEqual([decoded.problems, decoded.warnings], [[], []]);
    assert.deepEqual(decoded.value, life.pod);
  });
}

for (const { image, tag } of [
  { image: 'busybox', tag: 'latest' },
  { image: 'busybox:latest', tag: 'latest' },
  { image: 'busybox:1.36', tag: '1.36' },
  { image: 'localhost:5000/busybox', tag: 'latest' },
  { image: 'localhost:5000/a/b_c.d--e:x', tag: 'x' },
  { image: '[::1]:5000/x', tag: 'latest' },
  { image: `busybox@sha256:${'a'.repeat(64)}`, tag: undefined },
  { image: `busybox:latest@sha256:${'a'.repeat(64)}`, tag: 'latest' },
  { image: 'UPPER/case:latest', tag: 'latest' },
  { image: 'Busybox:latest', tag: undefined },
  { image: 'a/B:latest', tag: undefined },
  { image: 'Registry.example/case:latest', tag: 'latest' },
  { image: 'bad name', tag: undefined },
  { image: 'x:bad tag', tag: undefined },
  { image: '', tag: undefined },
  { image: 'a@b@c', tag: undefined },
]) {
  test(`image ${JSON.stringify(image)} has tag ${tag}`, () => {
    assert.equal(imageTag(image), tag);
    assert.equal(pullPolicyOf(image), tag === 'latest' ? 'Always' : 'IfNotPresent');
  });
}

test('defaults: requests follow limits, each resource for itself', () => {
  const { resources } = containerOf(
    podWith({}, { resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } } }),
  );
  assert.deepEqual(resources, { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } });
});

test('defaults: resources finer than a thousandth are rounded up', () => {
  const { resources } = containerOf(podWith({}, { resources: { requests: { cpu: '100u', memory: '1500m' } } }));
  assert.deepEqual(resources, { requests: { cpu: '1m', memory: '1500m' } });
});

test('defaults: with the network of the host every port is a port of the host', () => {
  const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081 }];
  assert.deepEqual(containerOf(podWith({ hostNetwork: true }, { ports })).ports, [
    { containerPort: 80, hostPort: 80, protocol: 'TCP' },
    { containerPort: 81, hostPort: 8081, protocol: 'TCP' },
  ]);
});

for (const { name, own, container, expected } of [
  {
    name: 'nothing said, nothing added',
    own: {},
    container: { requests: { cpu: '1' } },
    expected: {},
  },
  {
    name: 'requests of the containers, else the limit of the pod',
    own: { limits: { cpu: '2', memory: '1Gi' } },
    container: { requests: { cpu: '1' } },
    expected: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } },
  },
  {
    name: 'huge pages of the containers',
    own: { limits: { cpu: '2' } },
    container: { limits: { 'hugepages-2Mi': '4Mi' } },
    expected: { limits: { cpu: '2', 'hugepages-2Mi': '4Mi' }, requests: { cpu: '2', 'hugepages-2Mi': '4Mi' } },
  },
  {
    name: 'requests alone get no limit',
    own: { requests: { cpu: '2' } },
    container: { requests: { memory: '1Gi' } },
    expected: { requests: { cpu: '2' } },
  },
]) {
  test(`defaults: resources of the pod: ${name}`, () => {
    const pod = applyPodDefaults(podWith({ resources: own }, { resources: container }));
    assert.deepEqual(pod.spec.resources, expected);
  });
}

test('defaults: volumes, hooks, variables and the service account', () => {
  const pod = applyPodDefaults(
    podWith(
      {
        serviceAccount: 'robot',
        volumes: [
          { name: 'plain' },
          { name: 'host', hostPath: { path: '/x' } },
          { name: 'disk', iscsi: { iqn: 'x', iscsiInterface: '' } },
          { name: 'picture', image: { reference: 'x' } },
          { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        ],
      },
      {
        lifecycle: { preStop: { httpGet: { port: 80 } } },
        livenessProbe: { grpc: { port: 1 } },
        env: [
          { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
        ],
      },
    ),
  );
  assert.equal(pod.spec.serviceAccountName, 'robot');
  assert.deepEqual(pod.spec.volumes, [
    { name: 'plain', emptyDir: {} },
    { name: 'host', hostPath: { path: '/x', type: '' } },
    { name: 'disk', iscsi: { iqn: 'x', iscsiInterface: 'default' } },
    { name: 'picture', image: { reference: 'x', pullPolicy: 'Always' } },
    {
      name: 'all',
      projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 },
    },
  ]);
  const [container] = pod.spec.containers;
  assert.deepEqual(container?.lifecycle?.preStop?.httpGet, { port: 80, path: '/', scheme: 'HTTP' });
  assert.deepEqual(container?.livenessProbe?.grpc, { port: 1, service: '' });
  assert.deepEqual(
    container?.env?.map(({ valueFrom }) => valueFrom),
    [
      { fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v1' } },
      { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k', optional: false } },
    ],
  );
});
