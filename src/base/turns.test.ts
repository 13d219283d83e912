import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurns } from './turns.ts';

const forever = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('no more than the limit at once, by rank, then in the order of asking', async () => {
  const turns = createTurns(2);
  const order: string[] = [];
  const held: Disposable[] = [];
  const ask = (name: string, ...rank: number[]) =>
    turns.take(rank, forever).then((turn) => {
      order.push(name);
      held.push(turn);
    });
  const all = [
    ask('a', 0),
    ask('b', 0),
    ask('late', 5),
    ask('c', 1),
    ask('d', 1),
    ask('urgent', -1, 9),
    ask('more urgent', -1, 1),
  ];
  await settle();
  assert.deepEqual(order, ['a', 'b']);
  for (let done = 0; done < 5; done += 1) {
    held[done]?.[Symbol.dispose]();
    await settle();
  }
  await Promise.all(all);
  assert.deepEqual(order, ['a', 'b', 'more urgent', 'urgent', 'c', 'd', 'late']);
});

test('who gives up waiting takes no turn, and a turn given back twice counts once', async () => {
  const turns = createTurns(1);
  const first = await turns.take([0], forever);
  const gaveUp = new AbortController();
  const waiting = turns.take([0], gaveUp.signal);
  gaveUp.abort(new Error('no longer wanted'));
  await assert.rejects(waiting, /no longer wanted/);
  await assert.rejects(turns.take([0], gaveUp.signal), /no longer wanted/);
  assert.equal(turns.waiting(), 0);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await turns.take([0], forever);
  let third = false;
  void turns.take([0], forever).then(() => {
    third = true;
  });
  await settle();
  assert.equal(third, false, 'one turn is out, and there is only one');
});
