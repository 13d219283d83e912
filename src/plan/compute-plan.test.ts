import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exited,
  makeContainer,
  makePod,
  makeSandbox,
  makeSnapshot,
  NOW,
  observe,
  type SnapshotParts,
  sidecar,
} from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import type { Container, RestartPolicy } from '../api/container.ts';
import { containerId, sandboxId } from '../api/ids.ts';
import type { PodSpec } from '../api/pod.ts';
import { computePlan } from './compute-plan.ts';
import type { ObservedContainer, ObservedSandbox } from './observation.ts';

interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly containers?: readonly ObservedContainer[];
  readonly parts?: SnapshotParts;
  readonly actions: readonly string[];
  readonly finished?: boolean;
}

const c = (more: Partial<Container> = {}): Container => ({ name: 'c', image: 'i', ...more });
const init = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'i', ...more });
const policy = (restartPolicy: RestartPolicy) => ({ restartPolicy });
const two = { containers: [c(), c({ name: 'd' })] };
const stopped = makeSandbox({ ready: false });
const other = sandboxId('s1');

function check(cases: readonly Case[]): void {
  for (const { name, spec, sandboxes, containers = [], parts, actions, finished = false } of cases) {
    test(name, () => {
      const snapshot = makeSnapshot(makePod(spec), observe(containers, sandboxes), parts);
      const plan = computePlan(snapshot);
      assert.deepEqual(plan.actions.map(describe), actions);
      assert.equal(plan.finished, finished);
      // A decision that is made twice is the same decision.
      assert.deepEqual(computePlan({ ...snapshot, crashes: plan.crashes }).actions, plan.actions);
    });
  }
}

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

const i12 = { initContainers: [init('i1'), init('i2')] };
check([
  { name: 'init: the first starts', spec: i12, actions: ['start init i1#0'] },
  { name: 'init: a running one is waited for', spec: i12, containers: [makeContainer('i1')], actions: [] },
  { name: 'init: the next follows a success', spec: i12, containers: [exited('i1', 0)], actions: ['start init i2#0'] },
  {
    name: 'init: the last success starts the regular ones',
    spec: i12,
    containers: [exited('i2', 0), exited('i1', 0)],
    actions: ['start regular c#0'],
  },
  {
    name: 'init: earlier ones may have been forgotten by the runtime',
    spec: i12,
    containers: [exited('i2', 0)],
    actions: ['start regular c#0'],
  },
  {
    name: 'init: all may be forgotten when a regular container is there',
    spec: i12,
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  {
    name: 'init: but not one of an older sandbox',
    spec: i12,
    sandboxes: [makeSandbox({ id: other, attempt: 1 }), stopped],
    containers: [exited('c', 1)],
    actions: ['start init i1#0'],
  },
  { name: 'init: a failure is tried again', spec: i12, containers: [exited('i1', 3)], actions: ['start init i1#1'] },
  {
    name: 'init: a failure ends a pod that runs once',
    spec: { ...i12, ...policy('Never') },
    containers: [exited('i1', 3)],
    actions: [],
    finished: true,
  },
  {
    name: 'init: unless a rule of its own forgives this exit code',
    spec: {
      ...policy('Never'),
      initContainers: [
        init('i1', {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
        }),
      ],
    },
    containers: [exited('i1', 3)],
    actions: ['start init i1#1'],
  },
  {
    name: 'init: one that was made and never started is made again, without counting',
    spec: i12,
    containers: [makeContainer('i1', { state: 'created' })],
    actions: ['remove i1-id', 'start init i1#0'],
  },
  {
    name: 'init: an unknown state is killed before it is tried again',
    spec: i12,
    containers: [makeContainer('i1', { state: 'unknown' })],
    actions: [
      'stop i1-id (Init container is in "unknown" state, try killing it before restart; Unknown; 30 s)',
      'start init i1#1',
    ],
  },
  {
    name: 'init: an unknown state ends a pod that runs once',
    spec: { ...i12, ...policy('Never') },
    containers: [makeContainer('i1', { state: 'unknown' })],
    actions: ['stop i1-id (Stopping container i1; Unknown; 30 s)'],
  },
]);

const withSide = { initContainers: [sidecar('s')] };
const probed = { initContainers: [sidecar('s', { startupProbe: { exec: {} } }), init('i2')] };
check([
  {
    name: 'sidecar: the next starts once it runs',
    spec: { initContainers: [sidecar('s'), init('i2')] },
    containers: [makeContainer('s')],
    actions: ['start init i2#0'],
  },
  { name: 'sidecar: its startup probe is waited for', spec: probed, containers: [makeContainer('s')], actions: [] },
  {
    name: 'sidecar: also while it has not passed',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'unknown' } },
    actions: [],
  },
  {
    name: 'sidecar: its success starts the next',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'success' } },
    actions: ['start init i2#0'],
  },
  {
    name: 'sidecar: a failed startup probe restarts it',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'failure' } },
    actions: ['stop s-id (Init container s failed startup probe; StartupProbe; 30 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: it is kept running beside the regular ones, whatever its exit code and the pod’s policy',
    spec: { ...withSide, ...policy('Never') },
    containers: [makeContainer('c'), exited('s', 0)],
    actions: ['start sidecar s#1'],
  },
  {
    name: 'sidecar: also when the runtime has forgotten it',
    spec: withSide,
    containers: [makeContainer('c')],
    actions: ['start sidecar s#0'],
  },
  {
    name: 'sidecar: it comes back while a later init container runs',
    spec: { initContainers: [sidecar('s'), init('i2')] },
    containers: [makeContainer('i2'), exited('s', 1)],
    actions: ['start sidecar s#1'],
  },
  {
    name: 'sidecar: a failed liveness probe restarts it, with the probe’s own grace',
    spec: { initContainers: [sidecar('s', { livenessProbe: { terminationGracePeriodSeconds: 3 } })] },
    containers: [makeContainer('c'), makeContainer('s')],
    parts: { liveness: { 's-id': 'failure' } },
    actions: ['stop s-id (Init container s failed liveness probe; LivenessProbe; 3 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: a new definition restarts it',
    spec: withSide,
    containers: [makeContainer('c'), makeContainer('s')],
    parts: { hashes: new Map([['s', 'h2']]) },
    actions: ['stop s-id (Init container s definition changed; ; 30 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: they stop last and in reverse order when the regular ones are done',
    spec: { initContainers: [sidecar('s1'), init('i'), sidecar('s2')], ...policy('Never') },
    containers: [exited('c', 0), makeContainer('s2'), exited('i', 0), makeContainer('s1')],
    actions: [
      'stop s2-id (Stopping container s2; Unknown; 30 s)',
      'stop s1-id (Stopping container s1; Unknown; 30 s) after s2-id',
    ],
  },
  {
    name: 'sidecar: one that ended then is not brought back',
    spec: { ...withSide, ...policy('Never') },
    containers: [exited('c', 1), exited('s', 1)],
    actions: [],
    finished: true,
  },
  {
    name: 'sidecar: a failed init container stops them too',
    spec: { initContainers: [sidecar('s'), init('i')], ...policy('Never') },
    containers: [exited('i', 1), makeContainer('s')],
    actions: ['stop s-id (Stopping container s; Unknown; 30 s)'],
  },
]);

const unhealthy = { containers: [c({ livenessProbe: {}, startupProbe: { terminationGracePeriodSeconds: 7 } })] };
check([
  {
    name: 'regular: success ends a pod that runs once',
    spec: policy('Never'),
    containers: [exited('c', 0)],
    actions: [],
    finished: true,
  },
  { name: 'regular: failure too', spec: policy('Never'), containers: [exited('c', 1)], actions: [], finished: true },
  {
    name: 'regular: OnFailure and success',
    spec: policy('OnFailure'),
    containers: [exited('c', 0)],
    actions: [],
    finished: true,
  },
  {
    name: 'regular: OnFailure and failure',
    spec: policy('OnFailure'),
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  { name: 'regular: Always and success', containers: [exited('c', 0)], actions: ['start regular c#1'] },
  {
    name: 'regular: one that is done does not end the other',
    spec: { ...two, ...policy('Never') },
    containers: [makeContainer('d'), exited('c', 1)],
    actions: [],
  },
  {
    name: 'regular: a container’s own policy counts before the pod’s',
    spec: { ...policy('Never'), containers: [c({ restartPolicy: 'OnFailure' })] },
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  {
    name: 'regular: so does its own Never',
    spec: { containers: [c({ restartPolicy: 'Never' }), c({ name: 'd' })] },
    containers: [makeContainer('d'), exited('c', 1)],
    actions: [],
  },
  {
    name: 'regular: a rule that does not match leaves the policy',
    spec: {
      containers: [
        c({
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [1, 2] } }],
        }),
      ],
    },
    containers: [exited('c', 2)],
    actions: [],
    finished: true,
  },
  {
    name: 'regular: a failed liveness probe',
    spec: unhealthy,
    containers: [makeContainer('c')],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: [
      'stop c-id (Container c failed liveness probe, will be restarted; LivenessProbe; 30 s)',
      'start regular c#1',
    ],
  },
  {
    name: 'regular: a failed startup probe, with its own grace',
    spec: unhealthy,
    containers: [makeContainer('c')],
    parts: { startup: { 'c-id': 'failure' } },
    actions: [
      'stop c-id (Container c failed startup probe, will be restarted; StartupProbe; 7 s)',
      'start regular c#1',
    ],
  },
  {
    name: 'regular: a probe that fails stops it for good if it runs once',
    spec: { ...unhealthy, ...policy('Never') },
    containers: [makeContainer('c')],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: ['stop c-id (Container c failed liveness probe; LivenessProbe; 30 s)'],
  },
  {
    name: 'regular: a verdict about an earlier container is none about this one',
    spec: unhealthy,
    containers: [makeContainer('c', { id: containerId('c-new') })],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: [],
  },
  {
    name: 'regular: a new definition restarts it whatever the policy',
    spec: policy('Never'),
    containers: [makeContainer('c')],
    parts: { hashes: new Map([['c', 'h2']]) },
    actions: ['stop c-id (Container c definition changed, will be restarted; ; 30 s)', 'start regular c#1'],
  },
  {
    name: 'regular: one without a hash is left alone',
    containers: [makeContainer('c', { hash: '' })],
    parts: { hashes: new Map([['c', 'h2']]) },
    actions: [],
  },
  {
    name: 'regular: a failed postStart hook',
    containers: [makeContainer('c')],
    parts: { memory: new Map([['c', { waiting: undefined, failedHooks: new Set([containerId('c-id')]) }]]) },
    actions: ['stop c-id (FailedPostStartHook; FailedPostStartHook; 30 s)'],
  },
  {
    name: 'regular: an unknown state',
    containers: [makeContainer('c', { state: 'unknown', restartCount: 4 })],
    actions: [
      'stop c-id (Container is in "unknown" state, try killing it before restart; Unknown; 30 s)',
      'start regular c#5',
    ],
  },
  {
    name: 'regular: made and never started',
    spec: policy('Never'),
    containers: [makeContainer('c', { state: 'created', restartCount: 2 })],
    parts: { restartCounts: new Map([['c', 2]]) },
    actions: ['remove c-id', 'start regular c#2'],
  },
  {
    name: 'regular: the count goes on where the runtime has forgotten',
    parts: { restartCounts: new Map([['c', 7]]) },
    actions: ['start regular c#7'],
  },
  {
    name: 'regular: of two that run the older one goes',
    containers: [makeContainer('c', { id: containerId('new'), restartCount: 1 }), makeContainer('c')],
    actions: ['stop c-id (Stopping container c; Unknown; 30 s)'],
  },
  {
    name: 'regular: one that runs counts before a newer one that ended',
    containers: [exited('c', 1, { id: containerId('new'), restartCount: 1 }), makeContainer('c')],
    actions: [],
  },
]);

const debug = { ephemeralContainers: [{ name: 'e', image: 'i' }] };
check([
  { name: 'ephemeral: started once', spec: debug, containers: [makeContainer('c')], actions: ['start ephemeral e#0'] },
  { name: 'ephemeral: never again', spec: debug, containers: [exited('e', 1), makeContainer('c')], actions: [] },
  {
    name: 'ephemeral: also while the pod is initialized, and before anything else',
    spec: { ...debug, ...i12 },
    actions: ['start ephemeral e#0', 'start init i1#0'],
  },
  {
    name: 'ephemeral: it does not keep the pod alive',
    spec: { ...debug, ...policy('Never') },
    containers: [makeContainer('e'), exited('c', 0)],
    actions: ['stop e-id (Stopping container e; Unknown; 30 s)'],
  },
]);

const restartAll = {
  restartPolicy: 'Never' as const,
  initContainers: [init('i1'), sidecar('s')],
  containers: [
    c({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    }),
    c({ name: 'd' }),
  ],
};
const crashedAll = [exited('c', 42), makeContainer('d'), makeContainer('s'), exited('i1', 0)];
check([
  {
    name: 'restart all: everything goes, the one that asked for it last',
    spec: restartAll,
    containers: crashedAll,
    actions: [
      'stop d-id (killing; RestartAllContainers; 0 s)',
      'stop s-id (killing; RestartAllContainers; 0 s)',
      'remove d-id',
      'remove s-id',
      'remove i1-id',
      'remove c-id',
    ],
  },
  {
    name: 'restart all: another exit code does not',
    spec: restartAll,
    containers: [exited('c', 41), makeContainer('d'), makeContainer('s'), exited('i1', 0)],
    actions: [],
  },
  {
    name: 'restart all: it waits like any other crash',
    spec: restartAll,
    containers: crashedAll,
    parts: { crashes: new Map([['c', { waitMs: 40_000, since: 5 }]]) },
    actions: [],
  },
  {
    name: 'restart all: one of an older sandbox has had its wish',
    spec: restartAll,
    sandboxes: [makeSandbox({ id: other, attempt: 1 }), stopped],
    containers: [exited('c', 42)],
    actions: ['start init i1#0'],
  },
  { name: 'restart all: then the pod begins anew', spec: restartAll, actions: ['start init i1#0'] },
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
