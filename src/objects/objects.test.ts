import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../api/pod.ts';
import type { PodStatus } from '../api/pod-status.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { KubeRequest } from '../kube/kube.ts';
import { createFakeKube } from './kube-testing.ts';
import { createObjects, type ObjectChange, type ObjectsConfig } from './objects.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const SERVICES = '/api/v1/services';
const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';

const pod = (name: string, spec: Partial<PodSpec>, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, ...more.metadata },
  spec: { containers: [{ name: 'c' }], ...spec },
  ...(more.status === undefined ? {} : { status: more.status }),
});
const withSecret = (name: string): Partial<PodSpec> => ({ imagePullSecrets: [{ name }] });
const withMap = (name: string): Partial<PodSpec> => ({ volumes: [{ name: 'v', configMap: { name } }] });

async function setUp(config: Partial<ObjectsConfig> = {}, answer?: (request: KubeRequest) => unknown) {
  const clock = createManualClock();
  const kube = createFakeKube(answer);
  const objects = createObjects(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      kube,
      record: () => undefined,
      nodeTtlSeconds: () => 10,
      nodeUid: () => Promise.resolve('node-uid'),
      random: () => 0,
      salt: '',
    },
    { nodeName: 'node1', strategy: 'Watch', syncMs: 60_000, trustBundles: false, podCertificates: false, ...config },
  );
  const stopping = new AbortController();
  await objects.start(stopping.signal);
  return { clock, kube, objects, stopping };
}

const meta = (name: string, namespace?: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  ...(namespace === undefined ? {} : { namespace }),
});

test('objects: what the pods here refer to is watched, and ends with them', async () => {
  const { kube, objects, stopping } = await setUp();
  const always = [SERVICES, CLASSES];
  const [a, b] = [pod('a', { ...withSecret('s'), ...withMap('m') }), pod('b', withSecret('s'))];
  objects.setPods([a, b]);
  const secret = '/api/v1/namespaces/ns/secrets metadata.name=s';
  const map = '/api/v1/namespaces/ns/configmaps metadata.name=m';
  assert.deepEqual(kube.runningPaths().toSorted(), [...always, secret, map].toSorted());
  objects.setPods([b]);
  assert.deepEqual(kube.runningPaths().toSorted(), [...always, secret].toSorted());
  objects.setPods([]);
  assert.deepEqual(kube.runningPaths(), always);
  stopping.abort('stop');
  await objects.stop?.();
  assert.deepEqual(kube.runningPaths(), []);
});

const ended = (phase: 'Succeeded' | 'Failed' | 'Running'): Partial<Pod> => ({ status: { phase } as PodStatus });
const fromFile = {
  metadata: { name: 'x', namespace: 'ns', uid: 'x', annotations: { 'kubernetes.io/config.source': 'file' } },
};

for (const [name, one, watched] of [
  ['running', pod('x', withSecret('s'), ended('Running')), true],
  ['succeeded', pod('x', withSecret('s'), ended('Succeeded')), false],
  ['failed', pod('x', withSecret('s'), ended('Failed')), false],
  ['from a manifest', pod('x', withSecret('s'), fromFile), false],
] as const) {
  test(`objects: of a pod that is ${name} are ${watched ? '' : 'not '}watched`, async () => {
    const { kube, objects } = await setUp();
    objects.setPods([one]);
    assert.equal(kube.runningPaths().length, watched ? 3 : 2);
  });
}

test('objects: changes are notified with their kind until no one listens', async () => {
  const { kube, objects } = await setUp();
  const notified: ObjectChange[] = [];
  const stop = objects.subscribe('test', (change) => notified.push(change));
  objects.setPods([pod('a', withMap('m'))]);
  const { listener } = kube.running('/api/v1/namespaces/ns/configmaps', 'metadata.name=m');
  listener.replaced([]);
  listener.changed({ metadata: meta('m', 'ns') });
  stop();
  listener.removed({ metadata: meta('m', 'ns') });
  assert.deepEqual(notified, [{ kind: 'configMap', namespace: 'ns', name: 'm' }]);
});

test('objects: services, unknown at first', async () => {
  const { clock, kube, objects } = await setUp();
  assert.equal(objects.services(), undefined);
  const waiting = objects.awaitServices(never);
  await settled();
  await clock.advance(1000);
  assert.equal(await waiting, undefined);
  const service = {
    metadata: meta('web', 'ns'),
    spec: {
      clusterIP: '10.0.0.1',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }, { port: 81 }],
    },
  };
  const { listener } = kube.running(SERVICES);
  listener.replaced([service, { metadata: meta('bare', 'ns') }]);
  const expected = [
    {
      name: 'web',
      namespace: 'ns',
      clusterIp: '10.0.0.1',
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }, { port: 81 }],
    },
    { name: 'bare', namespace: 'ns', clusterIp: '', ports: [] },
  ];
  assert.deepEqual(objects.services(), expected);
  assert.deepEqual(await objects.awaitServices(never), expected);
  listener.removed(service);
  assert.equal(objects.services()?.length, 1);
});

test('objects: one that cannot be read is left out of its list', async () => {
  const { kube, objects } = await setUp();
  const { listener } = kube.running(SERVICES);
  const bad = { metadata: meta('bad', 'ns'), spec: { ports: 'http' } };
  listener.replaced([bad, { metadata: meta('web', 'ns') }]);
  assert.deepEqual(
    objects.services()?.map(({ name }) => name),
    ['web'],
  );
});

test('objects: a pod whose references cannot be read costs the others nothing', async () => {
  const { kube, objects } = await setUp();
  const bad = pod('bad', { volumes: 'none' as never });
  objects.setPods([bad, pod('good', withMap('m'))]);
  assert.ok(kube.running('/api/v1/namespaces/ns/configmaps', 'metadata.name=m'));
});

test('objects: the handler of a runtime class', async () => {
  const { clock, kube, objects } = await setUp();
  const early = objects.runtimeHandler('plain', never);
  await settled();
  await clock.advance(1000);
  assert.deepEqual(await early, { ok: false, problem: 'failed to lookup RuntimeClass plain: not listed yet' });
  const plain = { metadata: meta('plain'), handler: 'runc' };
  kube.running(CLASSES).listener.replaced([plain]);
  assert.deepEqual(await objects.runtimeHandler('plain', never), { ok: true, value: 'runc' });
  assert.deepEqual(await objects.runtimeHandler('other', never), {
    ok: false,
    problem: 'runtimeclass.node.k8s.io "other" not found',
  });
});

test('objects: a service account, and one that is not there', async () => {
  const { objects } = await setUp({}, ({ path }) =>
    path.endsWith('/robot') ? { metadata: meta('robot', 'ns') } : new CodedError('notFound', 'no'),
  );
  assert.equal((await objects.serviceAccount('ns', 'robot', never)).kind, 'found');
  assert.deepEqual(await objects.serviceAccount('ns', 'nobody', never), {
    kind: 'missing',
    message: 'serviceaccount "nobody" not found',
  });
});

test('objects: gates that are off', async () => {
  const { objects } = await setUp();
  await assert.rejects(objects.clusterTrustBundles({ name: 'x' }, never), (error) => codeOf(error) === 'unsupported');
  const answer = await objects.podCertificate({ pod: pod('a', {}), volumeName: 'v', sourceIndex: 0 }, never);
  assert.equal(answer.kind, 'refused');
});

for (const [strategy, requests] of [
  ['Cache', 1],
  ['Get', 0],
] as const) {
  test(`objects: strategy ${strategy} watches no secret, and reads it ${requests === 0 ? 'when it is needed' : 'ahead'}`, async () => {
    const { clock, kube, objects } = await setUp({ strategy }, () => ({ metadata: meta('s', 'ns') }));
    objects.setPods([pod('a', withSecret('s'))]);
    await settled();
    assert.deepEqual(kube.runningPaths(), [SERVICES, CLASSES]);
    assert.equal(kube.requests.length, requests);
    await objects.secret('ns', 's', never);
    assert.equal(kube.requests.length, 1);
    await clock.advance(9999);
    await objects.secret('ns', 's', never);
    assert.equal(kube.requests.length, strategy === 'Cache' ? 1 : 2, 'the time that the node says');
    await clock.advance(1);
    await objects.secret('ns', 's', never);
    assert.equal(kube.requests.length, strategy === 'Cache' ? 2 : 3);
  });
}
