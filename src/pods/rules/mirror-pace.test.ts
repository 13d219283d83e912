import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Makings, makeAgainAt, noteMaking } from './mirror-pace.ts';

test('a mirror is made at once twice, then ever later, and at once again after a minute of peace', () => {
  assert.equal(makeAgainAt(undefined), 0);
  let makings: Makings | undefined;
  let now = 100_000;
  const waits = Array.from({ length: 7 }, () => {
    makings = noteMaking(makings, now);
    const wait = Math.max(makeAgainAt(makings) - now, 0);
    now += wait;
    return wait;
  });
  assert.deepEqual(waits, [0, 0, 1000, 2000, 4000, 8000, 10_000]);
  assert.equal(makeAgainAt(noteMaking(makings, now + 60_000)), 0);
});
