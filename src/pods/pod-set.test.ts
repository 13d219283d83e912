/** The set of pods, stepped by hand: a node in memory and a clock that stands still until the test moves it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createSetWorld, makePod, type SetWorld } from './testing.ts';

const reasons = ({ events }: SetWorld) => events.map(({ type, reason, pod }) => `${type} ${reason} ${pod?.name}`);
const seen = (time: string) => ({
  annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': time },
});

test('two pods where one throws: the other runs, and the bad one is tried again after 1, 2, 4 s', async () => {
  let tries = 0;
  const admit = ({ metadata }: Pod) => {
    if (metadata.uid === 'good') return { kind: 'admitted' } as const;
    tries += 1;
    if (tries < 4) throw new TypeError('a bug in admission');
    return { kind: 'admitted' } as const;
  };
  const world = createSetWorld({ admit });
  const pods = [makePod('bad'), makePod('good')];
  await world.desire(pods);
  assert.deepEqual([world.node.running('good'), world.node.running('bad')], [['c'], []]);
  await world.desire(pods);
  assert.equal(tries, 1, 'its back-off holds although others are reconciled');
  for (const [wait, count] of [
    [999, 1],
    [1, 2],
    [1999, 2],
    [1, 3],
    [4000, 4],
  ] as const) {
    await world.advance(wait);
    assert.equal(tries, count);
  }
  assert.deepEqual(world.node.running('bad'), ['c']);
  assert.deepEqual(
    reasons(world),
    Array.from({ length: 3 }, () => 'Warning FailedSync bad'),
  );
  await world.stop();
});

test('a pass of one pod that throws does not concern the other', async () => {
  const world = createSetWorld();
  await world.desire([makePod('bad'), makePod('good')]);
  world.node.failReads('bad', new TypeError('a bug'));
  for (const uid of ['bad', 'good']) {
    world.node.exit(uid, 'c', 0);
    world.set.worker(podUid(uid))?.wake('runtime-changed');
  }
  await world.advance(0);
  assert.deepEqual([world.node.running('bad'), world.node.running('good')], [[], ['c']]);
  world.node.failReads('bad', undefined);
  await world.advance(1000);
  assert.deepEqual(world.node.running('bad'), ['c']);
  await world.stop();
});

test('source gone: nothing ends before every source was heard; then the pod is stopped, removed and reported as gone', async () => {
  const world = createSetWorld();
  world.node.ignoreStops('c');
  await world.desire([makePod('a'), makePod('b')]);
  await world.desire([makePod('b')], false);
  assert.equal(world.step('a'), 'syncing');
  await world.desire([makePod('b')]);
  assert.equal(world.step('a'), 'terminating');
  assert.ok(world.node.calls.includes('stop a/c 30'));
  await world.advance(30_000);
  assert.deepEqual([world.step('a'), world.node.running('b')], [undefined, ['c']]);
  assert.ok(world.node.calls.includes('clean up a'));
  assert.deepEqual(
    world.updates.filter(({ kind }) => kind === 'gone').map((one) => (one.kind === 'gone' ? one.uid : '')),
    ['a'],
  );
  await world.stop();
});

test('an edited static pod begins when the pod of its name is gone', async () => {
  const world = createSetWorld();
  world.node.ignoreStops('c');
  const named = (uid: string) => makePod(uid, {}, { name: 'web' });
  await world.desire([named('first')]);
  await world.desire([named('second')]);
  assert.deepEqual([world.step('first'), world.step('second')], ['terminating', undefined]);
  await world.advance(30_000);
  assert.deepEqual([world.step('first'), world.node.running('second')], [undefined, ['c']]);
  await world.stop();
});

test('a static pod that is deleted and written again ends and begins again under its UID, with the next restart count', async () => {
  const world = createSetWorld();
  await world.desire([makePod('s', {}, seen('1'))]);
  await world.advance(5000);
  await world.desire([makePod('s', {}, seen('2'))]);
  const view = world.set.view(podUid('s'));
  assert.deepEqual(
    view?.observation.containers.map(({ state, restartCount }) => `${state} ${restartCount}`),
    ['running 1', 'exited 0'],
  );
  assert.equal(view?.startedAt, world.clock.now(), 'its deadline counts from the second life');
  assert.equal(world.endings.size, 0);
  await world.stop();
});

test('restart of the kubelet: what runs goes on without admission, what was rejected or evicted stays so, orphans end', async () => {
  const refuse = ({ metadata }: Pod) =>
    metadata.uid === 'refused'
      ? ({ kind: 'rejected', reason: 'OutOfcpu', message: 'no room' } as const)
      : ({ kind: 'admitted' } as const);
  const first = createSetWorld({ admit: refuse });
  const pods = ['runs', 'refused', 'evicted'].map((uid) => makePod(uid));
  await first.desire([...pods, makePod('orphan')]);
  const end = { phase: 'Failed', reason: 'Evicted', message: 'no memory' } as const;
  first.set.end(podUid('evicted'), { end, graceSeconds: 1, eventType: 'Warning' });
  await first.advance(0);
  assert.deepEqual(reasons(first), ['Warning OutOfcpu refused', 'Warning Evicted evicted']);
  await first.stop();

  const asked: string[] = [];
  const admit = ({ metadata }: Pod) => {
    asked.push(metadata.uid);
    return { kind: 'admitted' } as const;
  };
  const second = createSetWorld({ earlier: first, admit });
  const begun = second.node.calls.length;
  await second.desire(pods, false);
  assert.deepEqual(second.node.running('orphan'), ['c'], 'another source may have it');
  await second.desire(pods);
  assert.deepEqual([asked, second.node.running('runs')], [[], ['c']]);
  assert.deepEqual(second.set.view(podUid('refused'))?.ended?.reason, 'OutOfcpu');
  assert.deepEqual([second.set.view(podUid('evicted'))?.ended, second.step('evicted')], [end, 'terminated']);
  assert.deepEqual([second.node.running('orphan'), second.step('orphan')], [[], undefined]);
  const starts = second.node.calls.slice(begun).filter((call) => /^(start|sandbox)/.test(call));
  assert.deepEqual([starts, second.events], [[], []]);
  await second.stop();
});

test('an orphan that cannot be observed is tried again, and its name is taken until it is gone', async () => {
  const first = createSetWorld();
  await first.desire([makePod('old', {}, { name: 'web' })]);
  await first.stop();
  let tries = 0;
  const second = createSetWorld({
    earlier: first,
    restorePod: ({ uid }) => {
      tries += 1;
      return tries < 3 ? Promise.reject(new Error('no answer')) : Promise.resolve(makePod(uid, {}, { name: 'web' }));
    },
  });
  await second.desire([makePod('new', {}, { name: 'web' })]);
  assert.deepEqual([tries, second.step('new')], [1, undefined]);
  await second.advance(1000);
  assert.deepEqual([tries, second.step('new')], [2, undefined]);
  await second.advance(1000);
  assert.deepEqual([tries, second.node.running('old'), second.node.running('new')], [3, [], ['c']]);
  await second.stop();
});

/** A critical pod needs the room of the victim. */
const preempt = (pod: Pod, admitted: readonly Pod[]) => {
  const victim = admitted.find(({ metadata }) => metadata.uid === 'victim');
  if (pod.metadata.uid !== 'critical' || victim === undefined) return { kind: 'admitted' } as const;
  return { kind: 'preempt', victims: [{ uid: podUid('victim'), message: 'make room' }] } as const;
};

test('preemption: the victim ends with its grace, its reason and an event, once; the critical pod begins when it has ended', async () => {
  const lines: string[] = [];
  const log: Logger = {
    ...createSilentLogger(),
    v: () => log,
    with: () => log,
    info: (message, values) => lines.push(`${message} ${JSON.stringify(values)}`),
  };
  const world = createSetWorld({ admit: preempt, log });
  world.node.ignoreStops('c');
  await world.desire([makePod('victim')]);
  const pods = [makePod('victim'), makePod('critical')];
  await world.desire(pods);
  await world.desire(pods);
  assert.deepEqual([world.step('victim'), world.step('critical')], ['terminating', undefined]);
  assert.deepEqual(reasons(world), ['Warning Preempting victim']);
  const waits = lines.filter((line) =>
    /Explanation of pod.*"podUID":"critical".*"kind":"preemption".*victim/.test(line),
  );
  assert.equal(waits.length, 1, 'why it waits is explained once');
  assert.ok(world.node.calls.includes('stop victim/c 30'));
  await world.advance(30_000);
  const view = world.set.view(podUid('victim'));
  assert.deepEqual([view?.step, view?.ended?.reason, view?.ended?.message], ['terminated', 'Preempting', 'make room']);
  assert.equal(view?.ended?.disruption?.reason, 'TerminationByKubelet');
  assert.deepEqual(world.node.running('critical'), ['c']);
  await world.stop();
});

test('a pod that ends already is not preempted: it keeps the reason of its own end', async () => {
  const world = createSetWorld({ admit: preempt });
  world.node.ignoreStops('c');
  await world.desire([makePod('victim')]);
  await world.desire([makePod('critical')]);
  assert.deepEqual([world.step('victim'), world.step('critical')], ['terminating', undefined]);
  assert.deepEqual([world.events, world.set.view(podUid('victim'))?.ended], [[], undefined]);
  await world.advance(30_000);
  assert.deepEqual([world.step('victim'), world.node.running('critical')], [undefined, ['c']]);
  await world.stop();
});

test('a pod of the API server that is over does not begin again while its object is still there', async () => {
  const world = createSetWorld();
  const going = makePod('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 });
  await world.desire([makePod('a')]);
  await world.desire([going]);
  assert.equal(world.step('a'), undefined);
  const before = world.node.calls.length;
  await world.desire([going]);
  assert.deepEqual([world.step('a'), world.node.calls.length], [undefined, before]);
  await world.desire([]);
  await world.desire([makePod('a')]);
  assert.deepEqual(world.node.running('a'), ['c'], 'the same UID later: another pod');
  await world.stop();
});

/** A static pod `p` of this UID, and a kubelet that was killed while it ran. */
async function killedBeside(uid: string) {
  const first = createSetWorld();
  first.node.ignoreStops('c');
  await first.desire([makePod(uid, {}, { name: 'p', ...seen('1') })]);
  await first.stop();
  const restorePod = () => Promise.resolve(makePod(uid, {}, { name: 'p' }));
  return { first, second: createSetWorld({ earlier: first, restorePod }) };
}

test('a static pod that was edited while the kubelet was away never runs beside what was left of it', async () => {
  const { second } = await killedBeside('old');
  const edited = makePod('new', {}, { name: 'p', ...seen('2') });
  await second.desire([edited], false);
  assert.deepEqual(
    [second.node.running('old'), second.node.running('new')],
    [['c'], []],
    'its source has more to report',
  );
  await second.desire([edited], false, new Set(['file']));
  assert.deepEqual([second.step('old'), second.node.running('new')], ['terminating', []]);
  await second.advance(30_000);
  await second.advance(1000);
  assert.deepEqual([second.node.running('old'), second.node.running('new')], [[], ['c']]);
  await second.stop();
});

test('of a source that was not heard only what a static pod has the name of is ended', async () => {
  const { second } = await killedBeside('left');
  await second.desire([makePod('q', {}, seen('2'))], false, new Set(['file']));
  await second.advance(60_000);
  assert.deepEqual([second.node.running('left'), second.node.running('q')], [['c'], ['c']]);
  await second.stop();
});

const CLOSED = { phase: 'Failed', reason: 'Terminated', message: 'down', whileClosed: true } as const;

test('the node was closed and is open again: static pods that it ended or rejected begin again, pods of the API server do not', async () => {
  let isClosed = false;
  const admit = () =>
    isClosed
      ? ({ kind: 'rejected', reason: 'NodeShutdown', message: 'no', whileClosed: true } as const)
      : ({ kind: 'admitted' } as const);
  const world = createSetWorld({ admit, isClosed: () => isClosed });
  const pods = [makePod('static', {}, seen('1')), makePod('own')];
  await world.desire(pods);
  isClosed = true;
  for (const uid of ['static', 'own'])
    world.set.end(podUid(uid), { end: CLOSED, graceSeconds: 1, eventType: undefined });
  await world.desire([...pods, makePod('late', {}, seen('1'))]);
  await world.advance(0);
  assert.deepEqual(
    ['static', 'own', 'late'].map((uid) => world.set.view(podUid(uid))?.ended?.reason),
    ['Terminated', 'Terminated', 'NodeShutdown'],
  );
  assert.deepEqual(reasons(world), ['Warning NodeShutdown late'], 'the end of a pod has no event of its own');
  isClosed = false;
  world.set.reopen();
  await world.advance(0);
  assert.deepEqual(
    ['static', 'own', 'late'].map((uid) => world.node.running(uid)),
    [['c'], [], ['c']],
  );
  assert.deepEqual([...world.endings.keys()], ['own']);
  await world.stop();
});

test('after a boot static pods begin although the shutdown had ended them; while the shutdown goes on they stay down', async () => {
  const pods = [makePod('static', {}, seen('1'))];
  const first = createSetWorld();
  await first.desire(pods);
  first.set.end(podUid('static'), { end: CLOSED, graceSeconds: 1, eventType: undefined });
  await first.advance(0);
  await first.stop();
  const closed = createSetWorld({ earlier: first, isClosed: () => true });
  await closed.desire(pods);
  assert.deepEqual([closed.step('static'), closed.node.running('static')], ['terminated', []]);
  await closed.stop();
  const open = createSetWorld({ earlier: closed });
  await open.desire(pods);
  assert.deepEqual(open.node.running('static'), ['c']);
  await open.stop();
});
