import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createDueQueue } from './due-queue.ts';

function queueOf() {
  const clock = createManualClock(0);
  const handed: string[] = [];
  const stop = new AbortController();
  const queue = createDueQueue<string>(clock, (item, due) => handed.push(`${item}@${due}`));
  return { clock, handed, stop, queue };
}

test('items are handed out when they are due, in order, whatever the order they came in', async () => {
  const { clock, handed, stop, queue } = queueOf();
  queue.start(stop.signal);
  for (const [item, due] of [
    ['c', 30],
    ['a', 10],
    ['e', 50],
    ['b', 20],
    ['d', 40],
  ] as const)
    queue.set(item, due);
  assert.equal(clock.sleepers(), 1, 'one timer for all');
  await clock.advance(35);
  assert.deepEqual(handed, ['a@10', 'b@20', 'c@30']);
  queue.set('f', 36);
  await clock.advance(100);
  assert.deepEqual(handed.slice(3), ['f@36', 'd@40', 'e@50']);
  assert.equal(clock.sleepers(), 0);
});

test('an item has one time, the last one; one that was taken away does not come', async () => {
  const { clock, handed, stop, queue } = queueOf();
  queue.start(stop.signal);
  queue.set('a', 10);
  queue.set('a', 50);
  queue.set('b', 20);
  queue.set('c', 30);
  queue.set('c', 15);
  queue.delete('b');
  queue.delete('never there');
  await clock.advance(100);
  assert.deepEqual(handed, ['c@15', 'a@50']);
});

test('nothing is handed out before the start nor after the stop', async () => {
  const { clock, handed, stop, queue } = queueOf();
  queue.set('a', 10);
  await clock.advance(100);
  assert.deepEqual(handed, []);
  queue.start(stop.signal);
  await clock.advance(0);
  assert.deepEqual(handed, ['a@10']);
  queue.set('b', 120);
  stop.abort('over');
  queue.set('c', 130);
  await clock.advance(100);
  assert.deepEqual(handed, ['a@10']);
  assert.equal(clock.sleepers(), 0);
});

test('ten thousand in random order come in order', async () => {
  const { clock, handed, stop, queue } = queueOf();
  let state = 42;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state;
  };
  const dues = Array.from({ length: 10_000 }, () => random() % 1_000_000);
  for (const [index, due] of dues.entries()) queue.set(`${index}`, due);
  for (let index = 0; index < 10_000; index += 3) queue.delete(`${index}`);
  const left = dues.filter((_, index) => index % 3 !== 0).sort((a, b) => a - b);
  await clock.advance(1_000_000);
  queue.start(stop.signal);
  await clock.advance(0);
  assert.deepEqual(
    handed.map((text) => Number(text.split('@')[1])),
    left,
  );
});
