import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutputQueue } from './output-queue.ts';

test('pieces are joined, and come out in their order', () => {
  const queue = createOutputQueue();
  assert.equal(queue.next().length, 0);
  for (const piece of ['one ', 'two ', 'three']) queue.add(Buffer.from(piece));
  assert.equal(queue.bytes(), 13);
  assert.equal(String(queue.next()), 'one two three');
  queue.written(6);
  queue.add(Buffer.from(' four'));
  assert.equal(String(queue.next()), 'o three');
  queue.written(7);
  assert.equal(String(queue.next()), ' four');
  queue.written(5);
  assert.deepEqual([queue.bytes(), queue.next().length], [0, 0]);
});
