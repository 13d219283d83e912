import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { nextState, type WorkerInput, type WorkerState } from './worker-state.ts';

const pod = (grace?: number, more: object = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...more },
  spec: { containers: [], ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }) },
});
const syncing: WorkerState = { step: 'syncing', pod: pod(30) };
const evicted = { phase: 'Failed', reason: 'Evicted', message: 'no room' } as const;
const preempted = { phase: 'Failed', reason: 'Preempting', message: 'more important' } as const;

/** Each input at its time in seconds. */
function walk(start: WorkerState, ...inputs: readonly (readonly [number, WorkerInput])[]): WorkerState {
  return inputs.reduce((state, [at, input]) => nextState(state, input, at * 1000), start);
}

const stop = (state: WorkerState) => {
  assert.equal(state.step, 'terminating');
  return state.step === 'terminating' ? { until: state.since + state.graceSeconds * 1000, end: state.end } : undefined;
};

test('all steps: ended, stopped, cleaned up once no source has it', () => {
  const ended = walk(syncing, [1, { kind: 'end', end: evicted, graceSeconds: 5 }]);
  assert.deepEqual(stop(ended), { until: 6000, end: evicted });
  const stopped = walk(ended, [2, { kind: 'stopped' }]);
  assert.deepEqual(stopped, { step: 'terminated', pod: syncing.pod, end: evicted, deleted: false });
  assert.equal(walk(stopped, [3, { kind: 'cleaned' }]).step, 'terminated', 'its status is still needed');
  assert.equal(walk(stopped, [3, { kind: 'removed' }], [4, { kind: 'cleaned' }]).step, 'gone');
});

test('grace only shrinks, and the first reason is the one that is reported', () => {
  const state = walk(
    syncing,
    [0, { kind: 'end', end: evicted, graceSeconds: 20 }],
    [1, { kind: 'end', end: preempted, graceSeconds: 60 }],
    [2, { kind: 'removed' }],
  );
  assert.deepEqual(stop(state), { until: 20_000, end: evicted });
  assert.deepEqual(stop(walk(state, [3, { kind: 'end', end: undefined, graceSeconds: 2 }])), {
    until: 5000,
    end: evicted,
  });
  assert.deepEqual(
    stop(walk(syncing, [0, { kind: 'end', end: evicted, graceSeconds: 0 }]))?.until,
    1000,
    'at least 1 s',
  );
  assert.deepEqual(stop(walk(syncing, [0, { kind: 'removed' }]))?.until, 30_000, "the pod's own");
});

test('a pod that is being deleted ends; a shorter deletion grace counts', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const state = walk(syncing, [
    0,
    { kind: 'pod', pod: pod(30, { deletionTimestamp, deletionGracePeriodSeconds: 10 }) },
  ]);
  assert.equal(stop(state)?.until, 10_000);
  const sooner = walk(state, [1, { kind: 'pod', pod: pod(30, { deletionTimestamp, deletionGracePeriodSeconds: 3 }) }]);
  assert.equal(stop(sooner)?.until, 4000);
});

test('a pod that is removed and desired again ends for its successor; without a successor all of it is removed', () => {
  const again: WorkerInput = { kind: 'removed', again: true };
  const stopped = walk(syncing, [0, again], [1, { kind: 'stopped' }]);
  assert.deepEqual(stopped, { step: 'terminated', pod: syncing.pod, end: undefined, deleted: true, again: true });
  assert.equal(nextState(stopped, again, 2000), stopped, 'the same input twice changes nothing');
  assert.deepEqual(walk(stopped, [2, { kind: 'cleaned' }]), { step: 'gone', pod: syncing.pod, again: true });
  const removed = walk(stopped, [2, { kind: 'removed' }]);
  assert.deepEqual(walk(removed, [3, { kind: 'cleaned' }]), { step: 'gone', pod: syncing.pod });
  const late = walk(syncing, [0, { kind: 'removed' }], [1, again], [2, { kind: 'stopped' }]);
  assert.equal(late.step === 'terminated' && late.again, true, 'it is desired again while it ends');
});

test('no step is made backwards, and inputs of other steps change nothing', () => {
  const inputs: readonly WorkerInput[] = [
    { kind: 'pod', pod: pod(1) },
    { kind: 'removed' },
    { kind: 'end', end: evicted, graceSeconds: undefined },
    { kind: 'stopped' },
    { kind: 'cleaned' },
  ];
  const order = ['syncing', 'terminating', 'terminated', 'gone'];
  const states: readonly WorkerState[] = [
    syncing,
    { step: 'terminating', pod: syncing.pod, since: 0, graceSeconds: 5, end: undefined, deleted: false },
    { step: 'terminated', pod: syncing.pod, end: undefined, deleted: true },
    { step: 'gone', pod: syncing.pod },
  ];
  for (const state of states) {
    for (const input of inputs) {
      const next = nextState(state, input, 1000);
      assert.ok(order.indexOf(next.step) >= order.indexOf(state.step), `${state.step} --${input.kind}--> ${next.step}`);
    }
  }
  assert.equal(nextState(syncing, { kind: 'stopped' }, 0), syncing);
  assert.equal(nextState(syncing, { kind: 'cleaned' }, 0), syncing);
});

test('a pod of the API server that has ended counts as removed once it is being deleted; a static pod never does', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const going = pod(30, { deletionTimestamp });
  const stopped = walk(syncing, [0, { kind: 'pod', pod: going }], [1, { kind: 'stopped' }]);
  assert.deepEqual(stopped, { step: 'terminated', pod: going, end: undefined, deleted: true });
  assert.equal(walk(stopped, [2, { kind: 'cleaned' }]).step, 'gone');
  const finished = walk(syncing, [0, { kind: 'end', end: undefined, graceSeconds: 1 }], [1, { kind: 'stopped' }]);
  assert.deepEqual(walk(finished, [2, { kind: 'pod', pod: going }]), { ...stopped, pod: going });
  const own = pod(30, { deletionTimestamp, annotations: { 'kubernetes.io/config.source': 'file' } });
  const still = walk(syncing, [0, { kind: 'pod', pod: own }], [1, { kind: 'stopped' }]);
  assert.equal(still.step === 'terminated' && still.deleted, false);
});

test('a pod that another component has reported as ended is ended', () => {
  const ended: Pod = { ...pod(7), status: { phase: 'Failed' } };
  assert.equal(stop(walk(syncing, [0, { kind: 'pod', pod: ended }]))?.until, 7000);
  const own: Pod = {
    ...pod(7, { annotations: { 'kubernetes.io/config.source': 'file' } }),
    status: { phase: 'Failed' },
  };
  assert.equal(walk(syncing, [0, { kind: 'pod', pod: own }]).step, 'syncing');
});
