import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pod } from '../api/pod.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { inOneGo, onceKnown } from './hold-back.ts';

const pods = (count: number) => Array.from({ length: count }, () => ({}) as Pod);

test('sets that come together are passed on once, the latest alone', async () => {
  const told: number[] = [];
  const tell = inOneGo(createTestSupervisor(createManualClock()), (set) => told.push(set.length));
  for (const count of [1, 2, 3]) tell(pods(count));
  assert.deepEqual(told, []);
  await nextTurn();
  assert.deepEqual(told, [3]);
  tell(pods(2));
  await nextTurn();
  assert.deepEqual(told, [3, 2]);
});

test('pods wait for their node, the latest set alone, and go through once it is known', () => {
  const told: number[] = [];
  const listeners = new Set<(object: object | undefined) => void>();
  let node: object | undefined;
  const tell = onceKnown(
    {
      object: () => node,
      subscribe: (_, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    (set) => told.push(set.length),
  );
  tell(pods(1));
  tell(pods(2));
  for (const listener of listeners) listener(undefined);
  assert.deepEqual(told, []);
  node = {};
  for (const listener of listeners) listener(node);
  assert.deepEqual(told, [2]);
  assert.equal(listeners.size, 0);
  tell(pods(3));
  assert.deepEqual(told, [2, 3]);
});
