import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type PodUid, podUid } from '../api/ids.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { PodView } from '../model/pod-view.ts';
import { createDeadContainers } from './dead-containers.ts';

const ENDED = { name: 'c', state: 'exited' };

/** Pods with so many dead containers of one name each; listeners hear of every change. */
function nodeWith(dead: Readonly<Record<string, number>>) {
  const clock = createManualClock();
  const views = new Map<PodUid, PodView>();
  const listeners = new Set<() => void>();
  const woken: string[] = [];
  const set = (name: string, count: number, step: PodView['step'] = 'syncing') => {
    const containers = Array.from({ length: count }, () => ENDED);
    const uid = podUid(name);
    views.set(uid, { uid, step, observation: { containers } } as unknown as PodView);
    for (const listener of listeners) listener();
  };
  for (const [name, count] of Object.entries(dead)) set(name, count);
  const deadContainers = createDeadContainers(clock, () => ({
    views: () => [...views.values()],
    view: (uid) => views.get(uid),
    wake: (uid) => woken.push(uid),
    subscribe: (_name, listener) => {
      const added = () => listener({} as never);
      listeners.add(added);
      return () => listeners.delete(added);
    },
  }));
  const remove = (signal = new AbortController().signal) => {
    const outcome = { isOver: false };
    const removed = deadContainers.remove(signal).finally(() => {
      outcome.isOver = true;
    });
    return { outcome, removed };
  };
  return { clock, set, views, listeners, woken, deadContainers, remove };
}

test('removing ends with the change that shows the last one gone, and no sooner', async () => {
  const node = nodeWith({ a: 3, b: 2, c: 1 });
  const { outcome, removed } = node.remove();
  assert.deepEqual(node.woken, ['a', 'b'], 'one dead container of a name may stay');
  assert.ok(node.deadContainers.isRemoving());
  node.set('a', 1);
  node.set('b', 2);
  await turn();
  assert.equal(outcome.isOver, false);
  node.views.delete(podUid('b')); // a pod that is gone has none
  node.set('c', 1);
  await removed;
  assert.ok(!node.deadContainers.isRemoving());
  assert.deepEqual([node.listeners.size, node.clock.sleepers()], [0, 0], 'nothing is left waiting');
});

test('it ends after a while where a worker removes nothing, and at once where there is nothing to remove', async () => {
  const node = nodeWith({ a: 2 });
  const { removed } = node.remove();
  await node.clock.advance(10_000);
  await removed;
  assert.equal(node.listeners.size, 0);
  await nodeWith({ a: 1 }).remove().removed;
});

test('an abort is passed on', async () => {
  const node = nodeWith({ a: 2 });
  const stopping = new AbortController();
  const { removed } = node.remove(stopping.signal);
  stopping.abort('stopping');
  await assert.rejects(removed, (error) => error === 'stopping');
  assert.ok(!node.deadContainers.isRemoving());
});

test('of a pod that has ended the last one goes, too', async () => {
  const node = nodeWith({ a: 1 });
  node.set('over', 1, 'terminated');
  const { removed } = node.remove();
  assert.deepEqual(node.woken, ['over']);
  node.set('over', 0, 'terminated');
  await removed;
});
