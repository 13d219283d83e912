/** One worker, stepped by hand: a node in memory and a clock that stands still until the test moves it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { CodedError } from '../base/errors.ts';
import type { WorkerState } from './rules/worker-state.ts';
import { createWorkerWorld, makePod, START, settle, type WorkerWorld } from './testing.ts';
import { createWorker, type Worker } from './worker.ts';

const POD = makePod('u');

function startWorker(world: WorkerWorld, state: WorkerState = { step: 'syncing', pod: POD }, isNew = true): Worker {
  const worker = createWorker(world.deps, { state, isNew, begins: false }, world.life.signal);
  void worker.start();
  return worker;
}

/** A worker whose pod runs, with nothing left to do. */
async function startRunning(world: WorkerWorld, pod = POD): Promise<Worker> {
  const worker = startWorker(world, { step: 'syncing', pod });
  await settle(world.clock);
  assert.deepEqual(world.node.running('u'), ['c']);
  world.node.calls.length = 0;
  world.passes.length = 0;
  return worker;
}

const evicted = { phase: 'Failed', reason: 'Evicted', message: 'no room' } as const;
const kinds = ({ passes }: WorkerWorld) => passes.map(({ kind }) => kind);

test('start: the pod is published before the runtime is asked, and its first steps need no read', async () => {
  const world = createWorkerWorld();
  startWorker(world);
  assert.deepEqual(
    world.views.map(({ step, observation }) => [step, observation.sandboxes.length]),
    [['syncing', 0]],
  );
  await settle(world.clock);
  assert.deepEqual(world.node.calls, ['sandbox u', 'pull u/c', 'start u/c', 'read u']);
  assert.deepEqual(kinds(world), ['create', 'sync'], 'the second pass observes what the first one did');
  const last = world.views.at(-1);
  assert.deepEqual([last?.observation.containers[0]?.state, last?.startedAt], ['running', START]);
  assert.equal(world.clock.sleepers(), 0, 'it waits for an event, not for a time');
});

test('edit: a new image restarts the container', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  worker.send({ kind: 'pod', pod: makePod('u', { containers: [{ name: 'c', image: 'newer' }] }) });
  await settle(world.clock);
  assert.deepEqual(
    world.node.calls.filter((call) => !call.startsWith('read')),
    ['stop u/c 30', 'pull u/c', 'start u/c'],
  );
  assert.equal(world.views.at(-1)?.observation.containers[0]?.image, 'newer');
  assert.equal(kinds(world)[0], 'update');
});

test('deletion: what is known is stopped without a read, and one read follows; events on the way need none, and nothing is read to clean up', async () => {
  const world = createWorkerWorld();
  world.node.ignoreStops('c');
  const worker = await startRunning(world);
  worker.wake('runtime-listed');
  worker.send({ kind: 'removed' });
  await settle(world.clock);
  worker.wake('runtime-changed');
  await settle(world.clock);
  assert.deepEqual(world.node.calls, ['stop u/c 30']);
  assert.ok(worker.busyFor() === 0, 'it is free to learn of a shorter grace');
  await world.clock.advance(2999);
  worker.wake('runtime-changed');
  await settle(world.clock);
  assert.deepEqual(world.node.calls.length, 1);
  await world.clock.advance(1);
  await settle(world.clock);
  assert.deepEqual(world.node.calls, ['stop u/c 30', 'read u'], 'a stop that takes long is read once in a while');
  world.node.calls.length = 0;
  await world.clock.advance(27_000);
  await settle(world.clock);
  assert.equal(worker.state().step, 'gone');
  assert.deepEqual(world.node.calls, ['read u', 'clean up u']);
});

test('deletion right after a change: the runtime is read before anything is stopped', async () => {
  for (const reason of ['runtime-changed', 'exit-announced', 'probe-verdict'] as const) {
    const world = createWorkerWorld();
    const worker = await startRunning(world);
    worker.wake(reason);
    worker.send({ kind: 'removed' });
    await settle(world.clock);
    assert.deepEqual(world.node.calls.slice(0, 2), ['read u', 'stop u/c 30'], reason);
    assert.equal(worker.state().step, 'gone');
  }
});

test('deletion of a pod of the API server: its object may go when its volumes are gone, before its dead containers are', async () => {
  const world = createWorkerWorld();
  const { calls } = world.node;
  using _stopping = world.deps.removals.stopping(); // of another pod: removals wait for it
  const onReleased = (uid: string) => calls.push(`released ${uid} ${world.views.at(-1)?.step}`);
  const worker = createWorker(
    { ...world.deps, onReleased },
    { state: { step: 'syncing', pod: POD }, isNew: true, begins: false },
    world.life.signal,
  );
  void worker.start();
  await settle(world.clock);
  calls.length = 0;
  const times = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 };
  worker.send({ kind: 'pod', pod: makePod('u', {}, times) });
  await settle(world.clock);
  assert.equal(worker.state().step, 'terminated');
  assert.deepEqual(calls, ['stop u/c 1', 'read u', 'release u', 'released u terminated']);
  await world.clock.advance(10_000);
  await settle(world.clock);
  assert.equal(worker.state().step, 'gone');
  assert.equal(calls.at(-1), 'clean up u');
});

test('deletion during a start: the pull is aborted, nothing starts later, and nothing is left', async () => {
  const world = createWorkerWorld();
  world.node.holdStarts(Promise.withResolvers<void>().promise);
  const worker = startWorker(world);
  await settle(world.clock);
  assert.equal(world.node.calls.at(-1), 'pull u/c');
  assert.ok(worker.busyFor() >= 0 && worker.state().step === 'syncing');
  worker.send({ kind: 'removed' });
  await settle(world.clock);
  assert.equal(worker.state().step, 'gone');
  assert.ok(!world.node.calls.some((call) => call.startsWith('start')), world.node.calls.join());
  assert.equal(world.node.calls.at(-1), 'clean up u');
  assert.deepEqual([world.events, world.node.list()], [[], []], 'an interruption is no failure');
  await worker.start();
});

test('shrinking grace: a shorter one counts at once, a longer one is ignored', async () => {
  const world = createWorkerWorld();
  world.node.ignoreStops('c');
  const worker = await startRunning(world);
  worker.send({ kind: 'removed' });
  await settle(world.clock);
  assert.deepEqual(world.node.calls.at(-1), 'stop u/c 30');
  await world.clock.advance(10_000);
  worker.end({ end: evicted, graceSeconds: 60, eventType: 'Warning' });
  await settle(world.clock);
  assert.equal(world.node.running('u').length, 1);
  worker.end({ end: evicted, graceSeconds: 5, eventType: 'Warning' });
  await settle(world.clock);
  assert.equal(world.node.calls.at(-1), 'stop u/c 5');
  await world.clock.advance(4999);
  await settle(world.clock);
  assert.equal(worker.state().step, 'terminating');
  await world.clock.advance(1);
  await settle(world.clock);
  assert.equal(worker.state().step, 'gone');
  assert.deepEqual(world.events, [], 'it was ending already: no event of an eviction');
});

test('crash in a pass: back-off of 1, 2, 4 s, an event for a bug, and the pod runs when the cause is gone', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  world.node.failReads('u', new TypeError('a bug'));
  worker.wake('runtime-changed');
  await settle(world.clock);
  const reads = () => world.node.calls.filter((call) => call === 'read u').length;
  for (const [wait, count] of [
    [999, 1],
    [1, 2],
    [1999, 2],
    [1, 3],
    [3999, 3],
    [1, 4],
  ] as const) {
    await world.clock.advance(wait);
    await settle(world.clock);
    assert.equal(reads(), count);
  }
  assert.deepEqual(
    world.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
    Array.from({ length: 4 }, () => 'Warning FailedSync error syncing pod: a bug'),
  );
  world.node.failReads('u', undefined);
  world.node.exit('u', 'c', 1);
  await world.clock.advance(8000);
  await settle(world.clock);
  assert.deepEqual(world.node.running('u'), ['c']);
  world.node.calls.length = 0;
  world.node.failReads('u', new TypeError('another bug'));
  worker.wake('runtime-changed');
  await settle(world.clock);
  await world.clock.advance(1000);
  await settle(world.clock);
  assert.equal(reads(), 2, 'the back-off began again at 1 s');
  world.life.abort('over');
});

test('a runtime that does not answer: no event, and a pass as soon as it is listed again', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  worker.wake('runtime-listed');
  await settle(world.clock);
  assert.deepEqual(world.passes, [], 'nothing failed before');
  world.node.failReads('u', new CodedError('unavailable', 'connection refused'));
  worker.wake('runtime-changed');
  await settle(world.clock);
  world.node.failReads('u', undefined);
  worker.wake('runtime-listed');
  await settle(world.clock);
  assert.deepEqual([kinds(world), world.events], [['sync', 'sync'], []]);
  worker.wake('runtime-listed');
  await settle(world.clock);
  assert.equal(world.passes.length, 2, 'it recovered');
});

test('wake-ups are merged: many before a pass are one, many during a pass are one more', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  for (let times = 0; times < 100; times += 1) {
    worker.wake('runtime-changed');
    worker.wake('probe-verdict');
    worker.wake('exit-announced');
  }
  await settle(world.clock);
  assert.equal(world.passes.length, 1);
  const hold = Promise.withResolvers<void>();
  world.node.holdStarts(hold.promise);
  world.node.exit('u', 'c', 0);
  worker.wake('runtime-changed');
  await settle(world.clock);
  assert.equal(world.passes.length, 1, 'the second pass starts the container');
  for (let times = 0; times < 100; times += 1) worker.wake('runtime-changed');
  hold.resolve();
  await settle(world.clock);
  assert.equal(world.passes.length, 3);
  assert.deepEqual(world.node.running('u'), ['c']);
});

test('an announced exit wakes only a pod that runs', async () => {
  const world = createWorkerWorld();
  world.node.ignoreStops('c');
  const worker = await startRunning(world);
  worker.send({ kind: 'removed' });
  await settle(world.clock);
  const before = world.passes.length;
  worker.wake('exit-announced');
  await settle(world.clock);
  assert.equal(world.passes.length, before);
  world.life.abort('over');
});

test('deadline: the pod ends when it is reached, with an event and the reason on disk before a container stops', async () => {
  const world = createWorkerWorld();
  world.node.ignoreStops('c');
  const worker = await startRunning(
    world,
    makePod('u', { activeDeadlineSeconds: 60, terminationGracePeriodSeconds: 5 }),
  );
  await world.clock.advance(59_999);
  await settle(world.clock);
  assert.equal(worker.state().step, 'syncing');
  await world.clock.advance(1);
  await settle(world.clock);
  const message = 'Pod was active on the node longer than the specified deadline';
  const end = { phase: 'Failed', reason: 'DeadlineExceeded', message };
  assert.deepEqual(
    world.events.map(({ type, reason, message: text }) => [type, reason, text]),
    [['Normal', 'DeadlineExceeded', message]],
  );
  assert.deepEqual([...world.endings.values()], [{ end }]);
  assert.equal(world.node.calls.at(-1), 'stop u/c 5');
  await world.clock.advance(5000);
  await settle(world.clock);
  assert.deepEqual([worker.state().step, world.views.at(-1)?.ended, world.node.running('u')], ['terminated', end, []]);
  assert.equal(world.events.length, 1);
  world.life.abort('over');
});

test('the kubelet stops in the middle of a pass: the worker ends, the container stays', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  const hold = Promise.withResolvers<void>();
  world.node.holdStarts(hold.promise);
  world.node.exit('u', 'c', 0);
  worker.wake('runtime-changed');
  await settle(world.clock);
  world.life.abort(new Error('stopped'));
  await worker.start();
  assert.deepEqual([worker.state().step, world.events, worker.busyFor()], ['syncing', [], 0]);
  assert.equal(world.clock.sleepers(), 0);
});

test('an evicted pod keeps no containers, since it ended to free the disk; its last view still has them', async () => {
  const world = createWorkerWorld();
  const worker = await startRunning(world);
  worker.end({ end: evicted, graceSeconds: 1, eventType: 'Warning' });
  await settle(world.clock);
  assert.equal(worker.state().step, 'terminated');
  const { containers } = await world.node.observe.read(
    { uid: podUid('u'), name: 'u', namespace: 'default' },
    world.life.signal,
  );
  assert.deepEqual(containers, []);
  const last = world.views.findLast(({ observation }) => observation.containers.length > 0);
  assert.deepEqual([last?.step, last?.observation.containers[0]?.state], ['terminated', 'exited']);
  world.life.abort('over');
});
