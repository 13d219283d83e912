import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, NOW, observe } from '../../../tests/plan/builders.ts';
import { conditionText, GATES, stateText, statusOf } from '../../../tests/plan/status-builders.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import type { PodStatusChange } from '../status.ts';
import { type KnownStatus, nextStatus } from './next-status.ts';
import type { StatusView } from './status-view.ts';

const stopped = [makeSandbox({ ready: false })];

/** One pod, with all changes that others are notified of. */
function setUp() {
  const changes: PodStatusChange[] = [];
  const clock = { now: NOW };
  let known: KnownStatus | undefined;
  const publish = (view: StatusView): PodStatus => {
    const next = nextStatus(known, view, {
      nodeIps: ['192.0.2.1'],
      runtimeName: 'containerd',
      qosClass: 'Burstable',
      recursiveReadOnly: false,
      gates: GATES,
      now: clock.now,
    });
    known = next.known;
    if (next.isChange) changes.push(known.change);
    return known.change.status;
  };
  return { statuses: { publish, computed: () => known?.computed }, changes, clock };
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

test('only changes are published', () => {
  const { statuses, changes, clock } = setUp();
  statuses.publish(view());
  clock.now += 5000;
  statuses.publish(view());
  assert.equal(changes.length, 1);
  statuses.publish(view({ observation: observe([exited('c', 0)]) }));
  assert.equal(changes.length, 2);
  statuses.publish(view({ step: 'terminated', observation: observe([exited('c', 0)], stopped) }));
  assert.equal(changes.length, 3);
});

test('a pod is shown as ended only when all of it has', () => {
  const { statuses, changes } = setUp();
  statuses.publish(view());
  const done = statuses.publish(view({ observation: observe([exited('c', 0)]) }));
  assert.equal(done.phase, 'Running');
  assert.equal(conditionText(done, 'Ready'), 'False | PodCompleted');
  assert.equal(statuses.computed()?.phase, 'Succeeded');
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

test('a pod that was rejected has failed and has nothing else', () => {
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

test('after a restart of the kubelet the status goes on from what the API server has', () => {
  const { statuses: first } = setUp();
  const published = first.publish(view());
  const { statuses, changes, clock } = setUp();
  clock.now += 1_000_000;
  const pod = { ...makePod({ restartPolicy: 'Never' }), status: published };
  assert.deepEqual(statuses.publish(view({ pod, startedAt: clock.now })), published);
  assert.equal(changes.length, 1);
});
