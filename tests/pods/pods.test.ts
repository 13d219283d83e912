/** The set of pods and its workers over a runtime in memory: what can't be made to happen on a real one whenever a test wants. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { podUid } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import { until } from '../node/pod-support.ts';
import { createFakeRuntime } from './fake-runtime.ts';
import { makePod, podDirectory, podWorld } from './pod-world.ts';

const running = (runtime: ReturnType<typeof createFakeRuntime>, pod: string) =>
  until(`${pod} runs`, () => runtime.runningOf(pod, 'c'), 5000);

async function loseEvents(t: TestContext, runtime: ReturnType<typeof createFakeRuntime>): Promise<void> {
  await using world = await podWorld(t, { runtime, relistMs: 150 });
  const { pods } = world;
  let count = 0;
  runtime.dropEvents(() => {
    count += 1;
    return count % 5 === 0;
  });
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  pods.setDesired(
    names.map((name) => makePod(name)),
    true,
  );
  for (let round = 0; round < 8; round += 1) {
    const ids = await Promise.all(names.map((name) => running(runtime, name)));
    for (const id of ids) runtime.exit(id, 1);
    for (const [index, name] of names.entries()) {
      await until(`${name} runs again`, () => {
        const id = runtime.runningOf(name, 'c');
        return id === ids[index] ? undefined : id;
      });
    }
  }
  pods.setDesired([], true);
  await until('all are gone', () => (runtime.picture().length === 0 && pods.views().length === 0 ? true : undefined));
}

test('a fifth of the events is lost: everything still converges, nothing is doubled', async (t) => {
  await loseEvents(t, createFakeRuntime());
});

test('so it does where ends are announced and the runtime takes its time to say so', async (t) => {
  const runtime = createFakeRuntime();
  runtime.announceOnly();
  let cleared = 0;
  const clearing = setInterval(() => {
    cleared += runtime.clear();
  }, 40);
  t.after(() => clearInterval(clearing));
  await loseEvents(t, runtime);
  assert.ok(cleared > 0, 'no end was announced: nothing is shown');
});

test('the next container starts while the runtime still clears the last one away; all else waits', async (t) => {
  const runtime = createFakeRuntime();
  runtime.announceOnly();
  await using world = await podWorld(t, { runtime });
  const { pods } = world;
  pods.setDesired([makePod('again'), makePod('once', { spec: { restartPolicy: 'Never' } })], true);
  const first = await running(runtime, 'again');
  const once = await running(runtime, 'once');
  const seen = (uid: string) =>
    pods.view(podUid(uid))?.observation.containers.map(({ restartCount, state }) => `${restartCount} ${state}`) ?? [];
  await until('both are seen to run', () =>
    [...seen('uid-again'), ...seen('uid-once')].join() === '0 running,0 running' ? true : undefined,
  );
  runtime.exit(first, 1);
  runtime.exit(once, 0);
  const second = await running(runtime, 'again');
  assert.notEqual(second, first);
  await until('it is shown beside the one that the runtime calls running', () =>
    seen('uid-again').join() === '1 running,0 running' ? true : undefined,
  );
  assert.deepEqual([seen('uid-once'), pods.view(podUid('uid-once'))?.step], [['0 running'], 'syncing']);
  assert.equal(runtime.clear(), 2);
  await until('its end is shown', () => (seen('uid-again').join() === '1 running,0 exited' ? true : undefined));
  await until('the other pod is over', () => (pods.view(podUid('uid-once'))?.step === 'terminated' ? true : undefined));
  assert.equal(runtime.runningOf('again', 'c'), second);
  assert.deepEqual(
    runtime.calls.filter((call) => call.startsWith('stop c')),
    [],
  );
  assert.deepEqual(
    world.events.filter(({ reason }) => reason === 'Killing'),
    [],
  );
  pods.setDesired([], true);
  await until('all are gone', () => (runtime.picture().length === 0 && pods.views().length === 0 ? true : undefined));
});

test('what the runtime says while the next container starts is shown at once', async (t) => {
  const runtime = createFakeRuntime();
  runtime.announceOnly();
  await using world = await podWorld(t, { runtime });
  const { pods } = world;
  pods.setDesired([makePod('p')], true);
  const first = await running(runtime, 'p');
  const hold = Promise.withResolvers<void>();
  runtime.holdStarts(hold.promise);
  const states = () => pods.view(podUid('uid-p'))?.observation.containers.map(({ state }) => state) ?? [];
  await until('it is seen to run', () => (states().join() === 'running' ? true : undefined));
  const before = runtime.load.begun.length;
  runtime.exit(first, 1);
  await until('the next one begins', () => (runtime.load.begun.length > before ? true : undefined));
  assert.deepEqual(states(), ['running']);
  runtime.clear();
  await until('the end is shown', () => (states().at(-1) === 'exited' ? true : undefined));
  assert.equal(runtime.runningOf('p', 'c'), undefined, 'the next one is still held');
  hold.resolve();
  await running(runtime, 'p');
});

test('a pod whose status call hangs does not hold up the others', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const stuck = makePod('stuck');
  pods.setDesired([stuck], true);
  const id = await running(runtime, 'stuck');
  await until('the worker has seen it run', () =>
    pods.views()[0]?.observation.containers.some(({ state }) => state === 'running') ? true : undefined,
  );
  runtime.hang('stuck');
  runtime.exit(id, 1);
  pods.setDesired([stuck, makePod('free')], true);
  const free = await running(runtime, 'free');
  runtime.exit(free, 1);
  await until('free runs again', () => {
    const again = runtime.runningOf('free', 'c');
    return again === free ? undefined : again;
  });
  assert.equal(pods.problem(), undefined);
  assert.equal(runtime.runningOf('stuck', 'c'), undefined);
});

test('no more starts at once than allowed, important pods first, and those that have begun before others', async (t) => {
  await using world = await podWorld(t, { startsAtOnce: 2 });
  const { runtime, pods } = world;
  const hold = Promise.withResolvers<void>();
  runtime.holdStarts(hold.promise);
  const few = [makePod('first'), makePod('second')];
  pods.setDesired(few, true);
  await until('both begin', () => (runtime.load.begun.length >= 2 ? true : undefined));
  const more = ['a', 'b', 'c'].map((name) => makePod(name));
  pods.setDesired([...few, ...more, makePod('urgent', { spec: { priority: 1000 } })], true);
  await until('all are there', () =>
    pods.views().filter(({ plan }) => plan !== undefined).length === 6 ? true : undefined,
  );
  await delay(20);
  hold.resolve();
  for (const name of ['first', 'second', 'a', 'b', 'c', 'urgent']) await running(runtime, name);
  assert.equal(runtime.load.most, 2);
  const begun = runtime.load.begun.join(', ');
  const at = (what: string) => runtime.load.begun.indexOf(what);
  for (const name of ['a', 'b', 'c']) assert.ok(at('sandbox urgent') < at(`sandbox ${name}`), begun);
  let open = 0;
  for (const what of runtime.load.begun) {
    if (what.startsWith('sandbox')) open += 1;
    if (what.startsWith('start')) open -= 1;
    assert.ok(open <= 2, `a third pod begins before one of the first two is done: ${begun}`);
  }
});

test('deleting a pod ends its pull at once, and nothing of it starts later', async (t) => {
  let aborted = 0;
  const images = {
    ensure: ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => {
          aborted += 1;
          reject(signal.reason);
        }),
      ),
  };
  await using world = await podWorld(t, { images });
  const { runtime, pods } = world;
  pods.setDesired([makePod('pulls')], true);
  await until('its sandbox is made', () => (runtime.load.begun.includes('sandbox pulls') ? true : undefined));
  await delay(20);
  const begun = performance.now();
  pods.setDesired([], true);
  await until('it is gone', () => (pods.views().length === 0 ? true : undefined));
  assert.ok(performance.now() - begun < 25_000);
  assert.equal(aborted, 1);
  assert.ok(!runtime.load.begun.some((what) => what.startsWith('create')));
});

test('a shortened grace counts at once: while the hook runs, and while the runtime waits', async (t) => {
  const hooks = {
    run: (_: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  };
  for (const lifecycle of [{ preStop: { exec: { command: ['x'] } } }, undefined]) {
    await using world = await podWorld(t, { hooks });
    const { runtime, pods } = world;
    runtime.deaf('c');
    const pod = makePod('slow', lifecycle === undefined ? {} : { container: { lifecycle } });
    pods.setDesired([pod], true);
    const id = await running(runtime, 'slow');
    pods.setDesired([], true);
    await delay(100);
    assert.equal(runtime.runningOf('slow', 'c'), id, 'it has its 30 s');
    const end = { phase: 'Failed', reason: 'Evicted', message: 'now' } as const;
    const begun = performance.now();
    pods.end(podUid('uid-slow'), { end, graceSeconds: 1, eventType: 'Warning' });
    await until('it is gone', () => (pods.views().length === 0 ? true : undefined));
    const took = performance.now() - begun;
    assert.ok(took > 900 && took < 20_000, `gone after ${took} ms`);
    assert.equal(world.events.filter(({ reason }) => reason === 'Killing').length, 1);
  }
});

test('orphans are ended when every source has been heard, not before', async (t) => {
  const directory = await podDirectory(t);
  const runtime = createFakeRuntime();
  const first = await podWorld(t, { runtime, directory });
  first.pods.setDesired([makePod('kept'), makePod('orphan')], true);
  const kept = await running(runtime, 'kept');
  await running(runtime, 'orphan');
  await first.stop();
  await using second = await podWorld(t, { runtime, directory });
  second.pods.setDesired([makePod('kept')], false);
  await delay(150);
  assert.ok(runtime.runningOf('orphan', 'c') !== undefined, 'another source may still want it');
  second.pods.setDesired([makePod('kept')], true);
  await until('the orphan is gone', () =>
    runtime.picture().some((line) => line.startsWith('orphan')) ? undefined : true,
  );
  assert.equal(runtime.runningOf('kept', 'c'), kept);
});

test('a pod that lives is not admitted again; one that was refused stays refused; room is made for a critical one', async (t) => {
  const directory = await podDirectory(t);
  const runtime = createFakeRuntime();
  const first = await podWorld(t, { runtime, directory });
  first.pods.setDesired([makePod('lives')], true);
  const lives = await running(runtime, 'lives');
  await first.stop();

  const admit = (pod: Pod, admitted: readonly Pod[]) => {
    const victim = admitted.find(({ metadata }) => metadata.name === 'lives');
    if (pod.metadata.name !== 'critical') return { kind: 'rejected', reason: 'OutOfcpu', message: 'no room' } as const;
    if (victim === undefined) return { kind: 'admitted' } as const;
    return { kind: 'preempt', victims: [{ uid: podUid(victim.metadata.uid), message: 'make room' }] } as const;
  };
  const second = await podWorld(t, { runtime, directory, admit });
  second.pods.setDesired([makePod('lives'), makePod('refused')], true);
  const view = await until('it is refused', () => second.pods.view(podUid('uid-refused')));
  assert.deepEqual(view.ended, { phase: 'Failed', reason: 'OutOfcpu', message: 'no room', rejected: true });
  assert.equal(runtime.runningOf('lives', 'c'), lives);
  second.pods.setDesired([makePod('lives'), makePod('refused'), makePod('critical')], true);
  await running(runtime, 'critical');
  assert.equal(runtime.runningOf('lives', 'c'), undefined);
  assert.equal(second.pods.view(podUid('uid-lives'))?.ended?.reason, 'Preempting');
  await second.stop();

  await using third = await podWorld(t, { runtime, directory });
  third.pods.setDesired([makePod('lives'), makePod('refused'), makePod('critical'), makePod('new')], true);
  await running(runtime, 'new');
  assert.equal(third.pods.view(podUid('uid-refused'))?.ended?.reason, 'OutOfcpu', 'also after a restart');
  assert.equal(runtime.runningOf('lives', 'c'), undefined);
  assert.equal(runtime.runningOf('refused', 'c'), undefined);
});

test('an edited pod begins when the old one is gone, and of many edits the last one stays', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  for (let edit = 0; edit < 100; edit += 1) pods.setDesired([makePod('edited', { uid: `uid-${edit}` })], true);
  await until('the last one runs', () => {
    const views = pods.views();
    return views.length === 1 && views[0]?.uid === 'uid-99' && runtime.runningOf('edited', 'c') ? true : undefined;
  });
});

test('a static pod that is deleted and wanted again ends with its grace and begins anew with the next restart count', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const life = (seen: string) => {
    const pod = makePod('again', { spec: { terminationGracePeriodSeconds: 1 } });
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': seen };
    return { ...pod, metadata: { ...pod.metadata, annotations } };
  };
  const uid = podUid('uid-again');
  const restarts = () => pods.view(uid)?.observation.containers.find(({ state }) => state === 'running')?.restartCount;
  pods.setDesired([life('1')], true);
  await running(runtime, 'again');
  const first = pods.view(uid)?.acknowledgedAt ?? 0;
  pods.setDesired([life('2')], true);
  await until('the second life', () => (restarts() === 1 ? true : undefined));
  const { acknowledgedAt = 0, startedAt = 0 } = pods.view(uid) ?? {};
  assert.ok(acknowledgedAt > first && startedAt > first, 'it begins anew, and so does its deadline');
  // Gone for longer, and back before the last of it has gone.
  pods.setDesired([], true);
  pods.setDesired([life('3')], true);
  await until('the third life', () => (restarts() === 2 ? true : undefined));
  pods.setDesired([], true);
  await until('nothing is left', () => (runtime.picture().length === 0 ? true : undefined));
});

test('idle pods cost nothing: no call to the runtime about any of them while nothing happens', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  pods.setDesired(
    names.map((name) => makePod(name)),
    true,
  );
  for (const name of names) await running(runtime, name);
  await delay(1500);
  const before = runtime.calls.length;
  await delay(500);
  // Sandboxes and containers may be listed once, for all pods together.
  assert.ok(runtime.calls.length - before <= 2, `${runtime.calls.length - before} calls`);
});
