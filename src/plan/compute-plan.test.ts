import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, makeSnapshot, NOW, observe } from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import { c, check, init, other, policy, stopped, two } from '../../tests/plan/plan-cases.ts';
import { containerId } from '../api/ids.ts';
import { computePlan } from './compute-plan.ts';

const firstStart = ['create sandbox 0', 'start regular c#0'];
check([
  { name: 'a new pod gets a sandbox and its containers', sandboxes: [], actions: firstStart },
  { name: 'so does one that runs once', spec: policy('Never'), sandboxes: [], actions: firstStart },
  {
    name: 'all regular containers start, in their order',
    spec: { containers: [c({ name: 'z' }), c({ name: 'a' })] },
    sandboxes: [],
    actions: ['create sandbox 0', 'start regular z#0', 'start regular a#0'],
  },
  {
    name: 'with init containers only the first of them starts',
    spec: { initContainers: [init('i1'), init('i2')] },
    sandboxes: [],
    actions: ['create sandbox 0', 'start init i1#0'],
  },
  { name: 'a pod that runs needs nothing', containers: [makeContainer('c')], actions: [] },
  {
    name: 'a sandbox that stopped is replaced, after what still runs in it',
    sandboxes: [stopped],
    containers: [makeContainer('c')],
    actions: [
      'stop c-id (Stopping container c; Unknown; 30 s)',
      'stop sandbox s0',
      'create sandbox 1',
      'start regular c#1',
    ],
  },
  {
    name: 'after a reboot the pod begins anew, init containers first',
    spec: { initContainers: [init('i1'), init('i2')] },
    sandboxes: [makeSandbox({ ready: false, attempt: 4 })],
    containers: [exited('c', 255), exited('i2', 0), exited('i1', 0)],
    actions: ['stop sandbox s0', 'remove i2-id', 'remove i1-id', 'create sandbox 5', 'start init i1#1'],
  },
  {
    name: 'several ready sandboxes are all replaced',
    sandboxes: [makeSandbox({ id: other, attempt: 1 }), makeSandbox()],
    actions: ['stop sandbox s1', 'stop sandbox s0', 'create sandbox 2', 'start regular c#0'],
  },
  {
    name: 'a sandbox in the wrong network is replaced',
    spec: { hostNetwork: true },
    actions: ['stop sandbox s0', 'create sandbox 1', 'start regular c#0'],
  },
  {
    name: 'a sandbox without an address is replaced',
    sandboxes: [makeSandbox({ ips: [] })],
    actions: ['stop sandbox s0', 'create sandbox 1', 'start regular c#0'],
  },
  {
    name: 'in the host network it needs no address',
    spec: { hostNetwork: true },
    sandboxes: [makeSandbox({ ips: [], hostNetwork: true })],
    containers: [makeContainer('c')],
    actions: [],
  },
  {
    name: 'a pod that ran once gets no second sandbox',
    spec: policy('Never'),
    sandboxes: [stopped],
    containers: [exited('c', 255)],
    actions: [],
    finished: true,
  },
  {
    name: 'unless one of its containers has a policy of its own',
    spec: { ...policy('Never'), containers: [c({ restartPolicy: 'Always' })] },
    sandboxes: [stopped],
    containers: [exited('c', 255)],
    actions: ['stop sandbox s0', 'create sandbox 1', 'start regular c#1'],
  },
  {
    name: 'a sandbox that failed before any container was made is tried again',
    spec: policy('Never'),
    sandboxes: [stopped],
    actions: ['stop sandbox s0', 'create sandbox 1', 'start regular c#0'],
  },
  {
    name: 'in a new sandbox only what has not succeeded runs again',
    spec: { ...policy('OnFailure'), ...two },
    sandboxes: [stopped],
    containers: [exited('d', 0), exited('c', 1)],
    actions: ['stop sandbox s0', 'create sandbox 1', 'start regular c#1'],
  },
  {
    name: 'and if all have, there is no new sandbox',
    spec: { ...policy('OnFailure'), ...two },
    sandboxes: [stopped],
    containers: [exited('d', 0), exited('c', 0)],
    actions: [],
    finished: true,
  },
]);

test('a crash loop says how long it waits and when to look again', () => {
  const snapshot = makeSnapshot(makePod(), observe([exited('c', 1)]), {
    crashes: new Map([['c', { waitMs: 80_000, since: 1 }]]),
  });
  const plan = computePlan(snapshot);
  assert.deepEqual(plan.actions, []);
  assert.equal(plan.retryAt, NOW - 20_000 + 80_000);
  assert.deepEqual(plan.waiting.get('c'), {
    reason: 'CrashLoopBackOff',
    message: 'back-off 1m20s restarting failed container=c pod=x_ns(uid-1)',
  });
  assert.deepEqual(plan.events, [
    {
      container: 'spec.containers{c}',
      type: 'Warning',
      reason: 'BackOff',
      message: 'Back-off restarting failed container c in pod x_ns(uid-1)',
    },
  ]);
});

test('a container whose probe failed is stopped even while it has to wait for its restart', () => {
  const containers = [makeContainer('c', { id: containerId('new'), restartCount: 1 }), exited('c', 0)];
  const plan = computePlan(
    makeSnapshot(makePod(), observe(containers), {
      liveness: { new: 'failure' },
      crashes: new Map([['c', { waitMs: 40_000, since: 1 }]]),
    }),
  );
  assert.deepEqual(plan.actions.map(describe), [
    'stop new (Container c failed liveness probe, will be restarted; LivenessProbe; 30 s)',
  ]);
  assert.equal(plan.finished, false);
  assert.equal(plan.waiting.get('c')?.reason, 'CrashLoopBackOff');
});

test('a replaced sandbox is told', () => {
  const plan = computePlan(makeSnapshot(makePod(), observe([], [stopped])));
  assert.deepEqual(plan.events, [
    { type: 'Normal', reason: 'SandboxChanged', message: 'Pod sandbox changed, it will be killed and re-created.' },
  ]);
  assert.deepEqual(computePlan(makeSnapshot(makePod(), observe([], []))).events, []);
});

test('a pod past its deadline ends, whatever its containers do', () => {
  const pod = makePod({ activeDeadlineSeconds: 60 });
  const at = (startedAt: number) => computePlan(makeSnapshot(pod, observe([makeContainer('c')]), { startedAt }));
  assert.equal(at(NOW - 59_999).end, undefined);
  assert.equal(at(NOW - 59_999).retryAt, NOW + 1);
  assert.deepEqual(at(NOW - 60_000).end, {
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  });
  assert.deepEqual(at(NOW - 60_000).actions, []);
});

test('a deletion’s own grace counts before the pod’s', () => {
  const pod = makePod({}, { deletionGracePeriodSeconds: 4 });
  const plan = computePlan(makeSnapshot(pod, observe([makeContainer('c')]), { hashes: new Map([['c', 'h2']]) }));
  assert.deepEqual(
    plan.actions.map((action) => (action.kind === 'container-stop' ? action.graceSeconds : undefined)),
    [4, undefined],
  );
});
