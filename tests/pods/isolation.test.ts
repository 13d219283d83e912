/** One bad pod, listener or loop never stops the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import { until } from '../node/pod-support.ts';
import { makePod, podWorld } from './pod-world.ts';

const isBad = ({ metadata }: Pod) => metadata.name === 'bad';

function throwFor(pod: Pod): void {
  if (isBad(pod)) throw new TypeError('bad pod');
}

test('a listener that throws stops neither the other listeners nor the set of pods', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const heard = new Set<string>();
  pods.subscribe('broken', () => {
    throw new RangeError('soon is no time');
  });
  pods.subscribe('good', (news) => void heard.add(news.kind === 'gone' ? news.uid : news.view.uid));
  pods.setDesired([makePod('a')], true);
  await until('a runs', () => runtime.runningOf('a', 'c'));
  pods.setDesired([makePod('a'), makePod('b')], true);
  await until('b runs', () => runtime.runningOf('b', 'c'));
  assert.deepEqual([...heard], ['uid-a', 'uid-b']);
  assert.equal(pods.problem(), undefined);
});

test('a listener that failed is told the latest view again', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  let isBroken = true;
  let last = '';
  pods.subscribe('flaky', (news) => {
    if (isBroken) throw new Error('not yet');
    if (news.kind === 'view') last = news.view.observation.containers[0]?.state ?? '';
  });
  pods.setDesired([makePod('a')], true);
  await until('a runs and is seen to', () => {
    return pods.view(podUid('uid-a'))?.observation.containers[0]?.state === 'running' || undefined;
  });
  assert.ok(runtime.runningOf('a', 'c'));
  isBroken = false;
  await until('the listener has caught up', () => last === 'running' || undefined);
});

test('who hears of the first view of a pod finds its worker', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const ended: string[] = [];
  pods.subscribe('evictor', (news) => {
    if (news.kind !== 'view' || news.view.pod.metadata.name !== 'evicted' || ended.length > 0) return;
    ended.push(news.view.uid);
    const end = { phase: 'Failed', reason: 'Evicted', message: 'no room' } as const;
    pods.end(news.view.uid, { end, graceSeconds: 0, eventType: 'Warning' });
  });
  pods.setDesired([makePod('evicted'), makePod('stays')], true);
  const reason = () => pods.view(podUid('uid-evicted'))?.ended?.reason;
  await until('it is evicted', () => (reason() === 'Evicted' ? true : undefined));
  await until('the other one runs', () => runtime.runningOf('stays', 'c'));
});

test('a pod whose admission throws is reported and tried again; the others start', async (t) => {
  let isBroken = true;
  await using world = await podWorld(t, {
    admit: (pod) => {
      if (isBroken) throwFor(pod);
      return { kind: 'admitted' };
    },
  });
  const { runtime, pods, events } = world;
  pods.setDesired([makePod('bad'), makePod('good')], true);
  await until('the good one runs', () => runtime.runningOf('good', 'c'));
  const told = events.filter(({ reason }) => reason === 'FailedSync');
  assert.deepEqual(told.map(({ type, message, pod }) => [type, message, pod?.name])[0], [
    'Warning',
    'error syncing pod (admit): bad pod',
    'bad',
  ]);
  isBroken = false;
  await until('the bad one runs after its back-off', () => runtime.runningOf('bad', 'c'));
});

test('a pod that cannot be identified is left as it is', async (t) => {
  let isBroken = false;
  const asStatic = (name: string): Pod => {
    const pod = makePod(name);
    return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };
  };
  await using world = await podWorld(t, {
    identify: (pod) => {
      if (isBroken) throwFor(pod);
      return pod;
    },
  });
  const { runtime, pods } = world;
  pods.setDesired([asStatic('bad'), asStatic('old')], true);
  const before = await until('it runs', () => runtime.runningOf('bad', 'c'));
  isBroken = true;
  pods.setDesired([asStatic('bad'), asStatic('good')], true);
  await until('the good one runs', () => runtime.runningOf('good', 'c'));
  await until('the old one is gone', () => (runtime.runningOf('old', 'c') === undefined ? true : undefined));
  assert.equal(runtime.runningOf('bad', 'c'), before);
});

test('a pod whose decisions throw waits for itself', async (t) => {
  let isBroken = true;
  await using world = await podWorld(t, {
    hashes: (pod) => {
      if (isBroken) throwFor(pod);
      return new Map();
    },
  });
  const { runtime, pods, events } = world;
  pods.setDesired([makePod('bad'), makePod('good')], true);
  await until('the good one runs', () => runtime.runningOf('good', 'c'));
  await until('the bad one is reported', () => events.find(({ reason }) => reason === 'FailedSync'));
  assert.equal(pods.problem(), undefined, 'one bad pod does not make the kubelet unhealthy');
  isBroken = false;
  await until('the bad one runs', () => runtime.runningOf('bad', 'c'));
});

test('loops that throw once go on', async (t) => {
  const failed = new Set<string>();
  const passes = new Map<string, number>();
  await using world = await podWorld(t, {
    beforeRound: (loop) => {
      passes.set(loop, (passes.get(loop) ?? 0) + 1);
      if (failed.has(loop)) return;
      failed.add(loop);
      throw new Error(`injected into ${loop}`);
    },
    relistMs: 100,
  });
  const { runtime, pods } = world;
  pods.setDesired([makePod('a')], true);
  await until('a runs', () => runtime.runningOf('a', 'c'));
  await until('all have gone on', () => ([...passes.values()].every((times) => times > 1) ? true : undefined));
  assert.deepEqual([...failed].sort(), [
    'pod reconcile',
    'pod resync',
    'pod worker',
    'runtime events',
    'runtime relist',
  ]);
});
