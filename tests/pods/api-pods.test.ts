/** Pods as an API server has them, over a runtime in memory: deletion that waits for the kubelet, ends that were told, adopted UIDs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { podUid } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { PodUpdate } from '../../src/model/pod-view.ts';
import { until } from '../node/pod-support.ts';
import { createFakeRuntime } from './fake-runtime.ts';
import { makePod, podDirectory, podWorld } from './pod-world.ts';

const going = (pod: Pod, seconds = 1): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: seconds },
});
const ended = (pod: Pod): Pod => ({ ...pod, status: { phase: 'Succeeded' } });
const fromFile = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } },
});

function listen(pods: { subscribe(name: string, listener: (news: PodUpdate) => void): unknown }) {
  const gone: string[] = [];
  pods.subscribe('test', (news) => {
    if (news.kind === 'gone') gone.push(news.uid);
  });
  return gone;
}

test('a pod that is being deleted goes whole while it is still desired, once, and does not come back', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const gone = listen(pods);
  const pod = makePod('a');
  pods.setDesired([pod], true);
  await until('a runs', () => runtime.runningOf('a', 'c'));
  pods.setDesired([going(pod)], true);
  await until('a is gone', () => (gone.length > 0 ? true : undefined));
  assert.deepEqual(runtime.picture(), [], 'nothing of it is left');
  // A finalizer keeps its object, and somebody changes a label on it.
  pods.setDesired([{ ...going(pod), metadata: { ...going(pod).metadata, labels: { x: 'y' } } }], true);
  await delay(100);
  assert.deepEqual(gone, ['uid-a']);
  assert.deepEqual(pods.views(), []);
  const next = makePod('a', { uid: 'uid-next' });
  pods.setDesired([next], true);
  await until('its successor runs', () => runtime.runningOf('a', 'c'));
});

test('a pod that was being deleted before it was ever seen is gone at once, and nothing is started', async (t) => {
  await using world = await podWorld(t);
  const gone = listen(world.pods);
  world.pods.setDesired([going(makePod('a'))], true);
  await until('a is gone', () => (gone.length > 0 ? true : undefined));
  assert.deepEqual(world.runtime.load.begun, []);
});

test('a pod that has ended before this kubelet came is not started again', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  pods.setDesired([ended(makePod('done')), makePod('other')], true);
  await until('the other runs', () => runtime.runningOf('other', 'c'));
  assert.equal(runtime.runningOf('done', 'c'), undefined);
  assert.equal(pods.view(podUid('uid-done'))?.step, 'terminated');
  pods.setDesired([makePod('other')], true);
  await until('it is forgotten', () => (pods.view(podUid('uid-done')) === undefined ? true : undefined));
});

test('a pod that somebody else declares ended is stopped', async (t) => {
  await using world = await podWorld(t);
  const { runtime, pods } = world;
  const pod = makePod('a', { spec: { terminationGracePeriodSeconds: 1 } });
  pods.setDesired([pod], true);
  await until('a runs', () => runtime.runningOf('a', 'c'));
  pods.setDesired([{ ...pod, status: { phase: 'Failed' } }], true);
  await until('a is stopped', () => (runtime.runningOf('a', 'c') === undefined ? true : undefined));
});

test('a static pod keeps the UID that runs; it waits until that can be told', async (t) => {
  const runtime = createFakeRuntime();
  const directory = await podDirectory(t);
  {
    await using before = await podWorld(t, { runtime, directory });
    before.pods.setDesired([makePod('s', { uid: 'theirs' })], true);
    await until('s runs', () => runtime.runningOf('s', 'c'));
  }
  const id = runtime.runningOf('s', 'c');
  let known = false;
  const identify = (pod: Pod, namesakes: readonly { readonly uid: string }[]) => {
    if (!known) return undefined;
    const [running] = namesakes;
    return { ...pod, metadata: { ...pod.metadata, uid: running?.uid ?? pod.metadata.uid } };
  };
  await using world = await podWorld(t, { runtime, directory, identify });
  const pod = fromFile(makePod('s', { uid: 'ours' }));
  world.pods.setDesired([pod], false);
  await delay(100);
  assert.deepEqual(world.pods.views(), []);
  known = true;
  world.pods.setDesired([pod], true);
  await until('it is taken over', () => world.pods.view(podUid('theirs')));
  await delay(50);
  assert.equal(runtime.runningOf('s', 'c'), id);
  assert.equal(world.pods.views().length, 1);
});
