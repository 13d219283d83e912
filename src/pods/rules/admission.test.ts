import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLife } from '../../../tests/recorded/lives.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { parseQuantity, type Quantity, zeroQuantity } from '../../api/quantity.ts';
import { type AdmissionNode, admitPod } from './admission.ts';
import { safeSysctls } from './sysctls.ts';

const quantity = (text: string): Quantity => {
  const parsed = parseQuantity(text);
  return parsed.ok ? parsed.value : zeroQuantity;
};
const node: AdmissionNode = {
  name: 'labnode',
  labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': 'labnode' },
  taints: [],
  allocatable: new Map([
    ['cpu', quantity('2')],
    ['memory', quantity('24581700Ki')],
    ['ephemeral-storage', quantity('10Gi')],
    ['hugepages-2Mi', quantity('0')],
    ['pods', quantity('3')],
  ]),
  allowedSysctls: safeSysctls({ major: 6, minor: 18 }),
  appArmor: false,
  strictGroups: true,
  isClosed: false,
  pressure: { memory: false, disk: false, pid: false },
  gates: { podLevel: true, taintComparison: false },
};

let count = 0;
const podOf = (spec: Partial<PodSpec>, metadata: Partial<Pod['metadata']> = {}): Pod => {
  count += 1;
  return {
    metadata: { name: `p${count}`, namespace: 'n', uid: `u${count}`, ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
  };
};
const asking = (requests: Record<string, string>, more: Partial<PodSpec> = {}) =>
  podOf({ containers: [{ name: 'c', resources: { requests } }], ...more });

test('the recorded pods are rejected with the recorded reasons and messages', () => {
  const used = asking({ cpu: '10m' });
  for (const name of ['forbidden-sysctl', 'out-of-cpu', 'node-affinity', 'os-mismatch']) {
    const { pod: recorded, events } = loadLife(name);
    const pod = { metadata: recorded.metadata, spec: recorded.spec };
    const [{ reason, message } = assert.fail('no event')] = events;
    assert.deepEqual(admitPod(pod, [used], node), { kind: 'rejected', reason, message }, name);
  }
});

test('the recorded pods that ran are admitted', () => {
  for (const name of [
    'best-effort',
    'guaranteed',
    'host-port',
    'sysctls',
    'runtime-class',
    'pod-level-resources',
    'unconfined',
  ]) {
    const { pod } = loadLife(name);
    assert.deepEqual(admitPod(pod, [], node), { kind: 'admitted' }, name);
  }
});

test('each reason, with its message', () => {
  const cases: readonly (readonly [Pod, string, RegExp, Partial<AdmissionNode>?])[] = [
    [
      asking({ memory: '30Gi' }),
      'OutOfmemory',
      /^Node didn't have enough resource: memory, requested: 32212254720, used: 0, capacity: 25171660800$/,
    ],
    [asking({ 'ephemeral-storage': '11Gi' }), 'OutOfephemeral-storage', /requested: 11811160064/],
    [
      asking({ 'hugepages-2Mi': '2Mi', memory: '1Mi' }),
      'OutOfhugepages-2Mi',
      /hugepages-2Mi, requested: 2097152, used: 0, capacity: 0/,
    ],
    [
      podOf({}),
      'OutOfpods',
      /pods, requested: 1, used: 0, capacity: 0/,
      { allocatable: new Map([['pods', quantity('0')]]) },
    ],
    [
      podOf({ nodeName: 'other' }),
      'NodeName',
      /^Predicate NodeName failed: node\(s\) didn't match the requested node name$/,
    ],
    [
      podOf({}),
      'TaintToleration',
      /^Predicate TaintToleration failed: node\(s\) had taints that the pod didn't tolerate$/,
      { taints: [{ key: 'down', effect: 'NoExecute' }] },
    ],
    [
      podOf({}, { labels: { 'kubernetes.io/os': 'windows' } }),
      'PodOSSelectorNodeLabelDoesNotMatch',
      /`kubernetes.io\/os` label doesn't match/,
    ],
    [
      podOf({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      'SupplementalGroupsPolicyNotSupported',
      /^SupplementalGroupsPolicy=Strict is not supported in this node$/,
      { strictGroups: false },
    ],
    [
      podOf({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
      'AppArmor',
      /^Cannot enforce AppArmor: AppArmor is not enabled on the host$/,
    ],
    [
      podOf({ resources: { limits: { cpu: '1' } } }),
      'PodLevelResourcesNotSupported',
      /feature gate is disabled/,
      { gates: { podLevel: false, taintComparison: false } },
    ],
    [podOf({ nodeSelector: { 'kubernetes.io/arch': 'arm64' } }), 'NodeAffinity', /^Predicate NodeAffinity failed/],
  ];
  for (const [pod, reason, message, more] of cases) {
    const verdict = admitPod(pod, [], { ...node, ...more });
    assert.equal(verdict.kind, 'rejected', reason);
    if (verdict.kind !== 'rejected') continue;
    assert.equal(verdict.reason, reason);
    assert.match(verdict.message, message);
  }
});

test('a request must fit exactly into what is free', () => {
  assert.equal(admitPod(asking({ cpu: '1500m' }), [asking({ cpu: '500m' })], node).kind, 'admitted');
  const tight = admitPod(asking({ cpu: '1501m' }), [asking({ cpu: '500m' })], node);
  assert.equal(
    tight.kind === 'rejected' && tight.message,
    "Node didn't have enough resource: cpu, requested: 1501, used: 500, capacity: 2000",
  );
  assert.equal(admitPod(podOf({}), [asking({ cpu: '5' })], node).kind, 'admitted');
  assert.equal(admitPod(asking({ 'example.com/thing': '9' }), [], node).kind, 'admitted');
  const known = { ...node, allocatable: new Map([...node.allocatable, ['example.com/thing', quantity('2')] as const]) };
  assert.equal(admitPod(asking({ 'example.com/thing': '3' }), [], known).kind, 'rejected');
});

test('the pod does not conflict with itself', () => {
  const pod = asking({ cpu: '2' });
  assert.equal(admitPod(pod, [pod], node).kind, 'admitted');
});

test('AppArmor is not checked again for a pod with a phase, and what the runtime has not reported rejects no pod', () => {
  const pod = podOf({
    securityContext: { appArmorProfile: { type: 'RuntimeDefault' }, supplementalGroupsPolicy: 'Strict' },
  });
  assert.equal(
    admitPod({ ...pod, status: { phase: 'Running' } }, [], { ...node, strictGroups: undefined }).kind,
    'admitted',
  );
});

test('a static pod tolerates all taints', () => {
  const pod = podOf({}, { annotations: { [CONFIG_SOURCE]: 'file' } });
  assert.equal(admitPod(pod, [], { ...node, taints: [{ key: 'down', effect: 'NoExecute' }] }).kind, 'admitted');
});

test('a critical pod preempts others', () => {
  const critical = asking({ cpu: '1400m' }, { priority: 2_000_000_000 });
  const small = asking({ cpu: '600m' });
  const large = asking({ cpu: '1' });
  assert.deepEqual(admitPod(critical, [small, large], node), {
    kind: 'preempt',
    victims: [{ uid: large.metadata.uid, message: 'Preempted in order to admit critical pod' }],
  });
});

test('no pod is preempted where resources are not what is missing', () => {
  const critical = asking({ cpu: '1500m' }, { priority: 2_000_000_000, nodeSelector: { zone: 'b' } });
  const verdict = admitPod(critical, [asking({ cpu: '1' })], node);
  assert.equal(verdict.kind === 'rejected' && verdict.reason, 'NodeAffinity');
  const guarded = podOf({
    ...critical.spec,
    nodeSelector: {},
    securityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
  });
  const late = admitPod(guarded, [asking({ cpu: '1' })], node);
  assert.equal(late.kind === 'rejected' && late.reason, 'AppArmor');
});

test('a critical pod among critical pods is rejected, since none may be preempted', () => {
  const critical = (cpu: string) => asking({ cpu }, { priority: 2_000_000_000 });
  assert.deepEqual(admitPod(critical('1500m'), [critical('1')], node), {
    kind: 'rejected',
    reason: 'UnexpectedAdmissionError',
    message:
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ' +
      'no set of running pods found to reclaim resources: [(res: cpu, q: 500), ]',
  });
});
