import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import { allocationOf, markChanging, settledPart, withAllocation, withLargerRequests } from './allocation.ts';

interface Sizes {
  readonly c?: ResourceRequirements;
  readonly init?: ResourceRequirements;
  readonly pod?: ResourceRequirements;
}

const podWith = ({ c, init, pod }: Sizes): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    initContainers: [{ name: 'i', ...(init === undefined ? {} : { resources: init }) }],
    containers: [{ name: 'c', ...(c === undefined ? {} : { resources: c }) }],
    ...(pod === undefined ? {} : { resources: pod }),
  },
});
const cpu = (amount: string): ResourceRequirements => ({ requests: { cpu: amount } });

const cases: readonly (readonly [what: string, given: Sizes, asked: Sizes, expected: Sizes | 'same'])[] = [
  ['the same', { c: cpu('100m') }, { c: cpu('100m') }, 'same'],
  ['the same in other words', { c: cpu('100m') }, { c: cpu('0.1') }, 'same'],
  ['nothing, and nothing in a list', {}, { c: { requests: {}, limits: {} } }, 'same'],
  ['more', { c: cpu('100m') }, { c: cpu('200m') }, { c: cpu('100m') }],
  ['a limit added', { c: cpu('1') }, { c: { ...cpu('1'), limits: { cpu: '1' } } }, { c: cpu('1') }],
  ['a request taken away', { c: cpu('1') }, {}, { c: cpu('1') }],
  ['an init container', { init: cpu('1') }, { init: cpu('2') }, { init: cpu('1') }],
  ['the pod as a whole', { pod: cpu('1') }, { pod: cpu('2') }, { pod: cpu('1') }],
  ['resources of its own for a pod without', {}, { pod: cpu('2') }, {}],
];
for (const [what, given, asked, expected] of cases) {
  test(`a pod requests ${what}`, () => {
    const options = { podLevel: true };
    const pod = podWith(asked);
    const held = withAllocation(pod, allocationOf(podWith(given), options), options);
    if (expected === 'same') assert.equal(held, pod);
    else {
      const { containers, initContainers, resources } = held.spec;
      const named = (one: ResourceRequirements | undefined) => one ?? {};
      assert.deepEqual(
        [containers[0]?.resources, initContainers?.[0]?.resources, resources].map(named),
        [expected.c, expected.init, expected.pod].map(named),
      );
    }
  });
}

test('where pod-level resources are not resized, those of the spec count', () => {
  const options = { podLevel: false };
  const pod = podWith({ pod: cpu('2') });
  assert.equal(withAllocation(pod, allocationOf(podWith({ pod: cpu('1') }), options), options), pod);
});

test('a container that was added later has what it requests', () => {
  const pod = podWith({ c: cpu('2') });
  assert.equal(withAllocation(pod, { containers: {}, pod: undefined }, { podLevel: true }), pod);
});

test('what a pod takes of the node: the larger one of what is allocated and of what is in force', () => {
  const pod = (cpu: string): Pod => ({
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
  });
  const given = (cpu: string) => allocationOf(pod(cpu), { podLevel: true });
  const small = pod('1');
  assert.equal(withLargerRequests(small, given('1')), small, 'the same object where nothing differs');
  assert.equal(withLargerRequests(small, given('500m')), small);
  assert.deepEqual(withLargerRequests(small, given('2')).spec, pod('2').spec);
});

test('a record of what is being changed counts as the largest that may be in force, and as unknown', () => {
  const marked = markChanging(
    { requests: { cpu: '2' }, limits: { cpu: '2' } },
    { requests: { cpu: '1', memory: '5' } },
  );
  const record = { containers: { c: marked, d: { requests: { cpu: '1' } } }, pod: undefined };
  assert.deepEqual(settledPart(record), { containers: { d: { requests: { cpu: '1' } } }, pod: undefined });
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '5' } } }] },
  };
  assert.deepEqual(withLargerRequests(pod, record).spec.containers[0]?.resources?.requests, { cpu: '2', memory: '5' });
  assert.equal(marked.limits, undefined, 'the reference sees that something is left to do');
});
