import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pod } from '../api/pod.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { onceKnown, passOnTogether } from './hold-back.ts';

const pods = (count: number) => Array.from({ length: count }, () => ({}) as Pod);

test('sets that come together are passed on once, the latest alone', async () => {
  const published: number[] = [];
  const publish = passOnTogether(createTestSupervisor(createManualClock()), (set) => published.push(set.length));
  for (const count of [1, 2, 3]) publish(pods(count));
  assert.deepEqual(published, []);
  await nextTurn();
  assert.deepEqual(published, [3]);
  publish(pods(2));
  await nextTurn();
  assert.deepEqual(published, [3, 2]);
});

test('pods wait for their node, the latest set alone, and go through once it is known', () => {
  const published: number[] = [];
  const listeners = new Set<(object: object | undefined) => void>();
  let node: object | undefined;
  const publish = onceKnown(
    {
      object: () => node,
      subscribe: (_, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    (set) => published.push(set.length),
  );
  publish(pods(1));
  publish(pods(2));
  for (const listener of listeners) listener(undefined);
  assert.deepEqual(published, []);
  node = {};
  for (const listener of listeners) listener(node);
  assert.deepEqual(published, [2]);
  assert.equal(listeners.size, 0);
  publish(pods(3));
  assert.deepEqual(published, [2, 3]);
});
