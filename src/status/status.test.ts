import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, NOW, observe } from '../../tests/plan/builders.ts';
import { conditionText, GATES, stateText, statusOf } from '../../tests/plan/status-builders.ts';
import { podUid } from '../api/ids.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createStatus, type PodStatusChange, type Statuses, type StatusView } from './status.ts';

const uid = podUid('uid-1');
const stopped = [makeSandbox({ ready: false })];

function setUp(): {
  readonly statuses: Statuses;
  readonly changes: PodStatusChange[];
  readonly clock: { now: number };
} {
  const changes: PodStatusChange[] = [];
  const clock = { now: NOW };
  const timers = createManualClock();
  const statuses = createStatus({
    clock: timers,
    supervisor: createTestSupervisor(timers),
    now: () => clock.now,
    probes: () => ({ startup: new Map(), liveness: new Map(), readiness: new Map() }),
    nodeIps: () => ['192.0.2.1'],
    runtimeName: () => 'containerd',
    qosClassOf: () => 'Burstable',
    recursiveReadOnly: () => false,
    gates: GATES,
    sink: (change) => changes.push(change),
  });
  return { statuses, changes, clock };
}

function view(more: Partial<StatusView> = {}): StatusView {
  return {
    pod: makePod({ restartPolicy: 'Never' }),
    step: 'syncing',
    observation: observe([makeContainer('c')]),
    probes: { startup: new Map(), liveness: new Map(), readiness: new Map() },
    waiting: new Map(),
    starting: new Set(),
    startedAt: NOW,
    ...more,
  };
}

test('only what has changed goes out', () => {
  const { statuses, changes, clock } = setUp();
  const heard: PodStatusChange[] = [];
  const stop = statuses.subscribe('test', (change) => heard.push(change));
  statuses.publish(view());
  clock.now += 5000;
  statuses.publish(view());
  assert.equal(changes.length, 1);
  statuses.publish(view({ observation: observe([exited('c', 0)]) }));
  assert.equal(changes.length, 2);
  assert.deepEqual(heard, changes);
  stop();
  statuses.publish(view({ step: 'terminated', observation: observe([exited('c', 0)], stopped) }));
  assert.equal(changes.length, 3);
  assert.equal(heard.length, 2);
});

test('a pod is shown as ended only when all of it has', () => {
  const { statuses, changes } = setUp();
  statuses.publish(view());
  const done = statuses.publish(view({ observation: observe([exited('c', 0)]) }));
  assert.equal(done.phase, 'Running');
  assert.equal(conditionText(done, 'Ready'), 'False | PodCompleted');
  assert.equal(statuses.computed(uid)?.phase, 'Succeeded');
  const over = statuses.publish(view({ step: 'terminated', observation: observe([exited('c', 0)], stopped) }));
  assert.equal(over.phase, 'Succeeded');
  assert.deepEqual(
    changes.map(({ final }) => final),
    [false, false, true],
  );
});

test('an eviction shows its reason and its disruption together with the end', () => {
  const { statuses } = setUp();
  const disruption = { reason: 'TerminationByKubelet', message: 'm' };
  const ended = { phase: 'Failed' as const, reason: 'Evicted', message: 'm', disruption };
  statuses.publish(view());
  const going = statuses.publish(view({ step: 'terminating', ended }));
  assert.deepEqual(
    [going.phase, going.reason, conditionText(going, 'DisruptionTarget')],
    ['Running', undefined, 'missing'],
  );
  const gone = statuses.publish(view({ step: 'terminated', ended, observation: observe([exited('c', 143)], stopped) }));
  assert.deepEqual([gone.phase, gone.reason, gone.message], ['Failed', 'Evicted', 'm']);
  assert.equal(conditionText(gone, 'DisruptionTarget'), 'True | TerminationByKubelet | m');
});

test('a pod that made room and whose containers ended with success has succeeded; the disruption is all that is left', () => {
  const { statuses } = setUp();
  const disruption = { reason: 'TerminationByKubelet', message: 'm' };
  const ended = { phase: 'Failed' as const, reason: 'Preempting', message: 'm', disruption };
  statuses.publish(view());
  statuses.publish(view({ step: 'terminating', ended }));
  const gone = statuses.publish(view({ step: 'terminated', ended, observation: observe([exited('c', 0)], stopped) }));
  assert.deepEqual([gone.phase, gone.reason, gone.message], ['Succeeded', undefined, undefined]);
  assert.equal(conditionText(gone, 'DisruptionTarget'), 'True | TerminationByKubelet | m');
  assert.equal(conditionText(gone, 'Ready'), 'False | PodCompleted');
});

test('what the runtime forgets after the end changes nothing', () => {
  const { statuses, changes } = setUp();
  statuses.publish(view());
  const end = statuses.publish(view({ step: 'terminated', observation: observe([exited('c', 3)], stopped) }));
  assert.deepEqual(statuses.publish(view({ step: 'terminated', observation: observe([], []) })), end);
  assert.equal(changes.length, 2);
  assert.equal(stateText(statusOf(end, 'c').state), 'terminated 3 Completed');
});

test('a pod that was refused has failed and has nothing else', () => {
  const { statuses, changes } = setUp();
  const rejected = { reason: 'OutOfcpu', message: 'too much' };
  const status = statuses.publish(view({ rejected, observation: observe([], []) }));
  assert.deepEqual(status, {
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: 'Pod was rejected: too much',
    startTime: '1970-01-12T13:46:40Z',
    qosClass: 'Burstable',
  });
  assert.equal(changes[0]?.final, true);
});

test('the store lists what it has, and forgets on request', () => {
  const { statuses } = setUp();
  statuses.publish(view());
  assert.deepEqual(
    statuses.list().map((change) => change.uid),
    [uid],
  );
  assert.equal(statuses.get(uid)?.phase, 'Running');
  statuses.forget(uid);
  assert.deepEqual([statuses.list(), statuses.get(uid), statuses.computed(uid)], [[], undefined, undefined]);
});

test('after a restart of the kubelet the status goes on from what the API server has', () => {
  const { statuses: first } = setUp();
  const told = first.publish(view());
  const { statuses, changes, clock } = setUp();
  clock.now += 1_000_000;
  const pod = { ...makePod({ restartPolicy: 'Never' }), status: told };
  assert.deepEqual(statuses.publish(view({ pod, startedAt: clock.now })), told);
  assert.equal(changes.length, 1);
});
