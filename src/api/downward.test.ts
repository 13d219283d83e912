import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceFieldSelector } from './container.ts';
import { podFieldValue, resourceFieldValue } from './downward.ts';
import type { Parsed } from './parsed.ts';
import type { Pod } from './pod.ts';

const pod: Pod = {
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u-1',
    labels: { tier: 'front', app: 'x "y"' },
    annotations: { 'Example.com/Note': 'line\nbreak' },
  },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'robot',
    initContainers: [{ name: 'init', resources: { requests: { cpu: '1' } } }],
    containers: [
      { name: 'c', resources: { requests: { memory: '8Mi' }, limits: { cpu: '300m', 'hugepages-2Mi': '4Mi' } } },
      { name: 'bare' },
    ],
  },
};
const facts = { hostIps: ['192.0.2.10', '2001:db8::1'], podIps: ['10.0.0.7', 'fd00::7'] };
const shown = (answer: Parsed<string>) => (answer.ok ? answer.value : `! ${answer.problem}`);

test('fields of a pod', () => {
  const cases: Readonly<Record<string, string>> = {
    'metadata.name': 'web',
    'metadata.namespace': 'shop',
    'metadata.uid': 'u-1',
    'metadata.labels': 'app="x \\"y\\""\ntier="front"',
    'metadata.annotations': 'Example.com/Note="line\\nbreak"',
    "metadata.labels['tier']": 'front',
    "metadata.labels['absent']": '',
    "metadata.annotations['Example.com/Note']": 'line\nbreak',
    'spec.nodeName': 'n1',
    'spec.host': 'n1',
    'spec.serviceAccountName': 'robot',
    'status.hostIP': '192.0.2.10',
    'status.hostIPs': '192.0.2.10,2001:db8::1',
    'status.podIP': '10.0.0.7',
    'status.podIPs': '10.0.0.7,fd00::7',
    'spec.restartPolicy': '! unsupported fieldPath: spec.restartPolicy',
    'metadata.labels.tier': '! unsupported fieldPath: metadata.labels.tier',
    '': '! unsupported fieldPath: ',
    "spec.nodeName['x']": "! field label does not support subscript: spec.nodeName['x']",
    "metadata.labels['']": "! invalid key subscript in metadata.labels['']: must have a name that is not empty",
  };
  for (const [path, want] of Object.entries(cases)) assert.equal(shown(podFieldValue(pod, path, facts)), want, path);
});

test('an address that is not there yet is empty', () => {
  assert.equal(shown(podFieldValue(pod, 'status.podIP', { hostIps: [], podIps: [] })), '');
  assert.equal(shown(podFieldValue(pod, 'status.hostIPs', { hostIps: [], podIps: [] })), '');
});

test('requests and limits of a container', () => {
  const nodeAllocatable = { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10G', 'hugepages-2Mi': '8Mi' };
  const cases: readonly (readonly [ResourceFieldSelector, string])[] = [
    [{ resource: 'limits.cpu', divisor: '1m' }, '300'],
    [{ resource: 'limits.cpu' }, '1'],
    [{ resource: 'limits.cpu', divisor: '0' }, '1'],
    [{ resource: 'requests.memory' }, '8388608'],
    [{ resource: 'requests.memory', divisor: '3Mi' }, '3'],
    [{ resource: 'requests.cpu' }, '0'],
    [{ resource: 'limits.memory', divisor: '1Mi' }, '1024'],
    [{ resource: 'limits.ephemeral-storage', divisor: '1G' }, '10'],
    [{ resource: 'limits.hugepages-2Mi', divisor: '1Mi' }, '4'],
    [{ resource: 'limits.hugepages-2Mi', containerName: 'bare' }, '0'],
    [{ resource: 'limits.cpu', containerName: 'bare' }, '2'],
    [{ resource: 'requests.cpu', containerName: 'init' }, '1'],
    [{ resource: 'limits.cpu', containerName: 'init' }, '0'],
    [{ resource: 'limits.cpu', containerName: 'other' }, '! container other not found'],
    [{ resource: 'limits.gpu' }, '! unsupported container resource : limits.gpu'],
    [{ resource: 'cpu' }, '! unsupported container resource : cpu'],
  ];
  for (const [selector, want] of cases) {
    const container = pod.spec.containers[0];
    const answer = resourceFieldValue({ pod, container, selector, nodeAllocatable, podLevel: true });
    assert.equal(shown(answer), want, JSON.stringify(selector));
  }
});

test('a volume must name the container', () => {
  const selector = { resource: 'limits.cpu' };
  const answer = resourceFieldValue({ pod, container: undefined, selector, nodeAllocatable: {}, podLevel: true });
  assert.equal(shown(answer), '! limits.cpu needs a containerName');
});

test('a limit of the pod counts before the size of the node, if the gate is on', () => {
  const limited: Pod = { ...pod, spec: { ...pod.spec, resources: { limits: { memory: '96Mi' } } } };
  const ask = (podLevel: boolean, resource: string) =>
    shown(
      resourceFieldValue({
        pod: limited,
        container: limited.spec.containers[1],
        selector: { resource, divisor: resource === 'limits.memory' ? '1Mi' : '1' },
        nodeAllocatable: { memory: '1Gi', cpu: '2' },
        podLevel,
      }),
    );
  assert.equal(ask(true, 'limits.memory'), '96');
  assert.equal(ask(true, 'limits.cpu'), '2');
  assert.equal(ask(false, 'limits.memory'), '1024');
});
