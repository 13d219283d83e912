import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayAnswerAt, noteAnswer, type Standoff } from './standoff.ts';

function waitsOf(count: number, free: number) {
  let standoff: Standoff | undefined;
  let now = 100_000;
  const waits = Array.from({ length: count }, () => {
    standoff = noteAnswer(standoff, now);
    const wait = Math.max(mayAnswerAt(standoff, free) - now, 0);
    now += wait;
    return wait;
  });
  return { waits, standoff, now };
}

test('what was never undone may be done at once', () => {
  assert.equal(mayAnswerAt(undefined), 0);
  assert.equal(mayAnswerAt(undefined, 2), 0);
});

test('ever later, and as the first time again after a minute of peace', () => {
  const { waits, standoff, now } = waitsOf(6, 0);
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  assert.equal(noteAnswer(standoff, now + 60_000).times, 1);
});

test('the first times without a wait where that is allowed, also after a minute of peace', () => {
  const { waits, standoff, now } = waitsOf(7, 2);
  assert.deepEqual(waits, [0, 0, 1000, 2000, 4000, 8000, 10_000]);
  assert.equal(mayAnswerAt(noteAnswer(standoff, now + 60_000), 2), 0);
});
