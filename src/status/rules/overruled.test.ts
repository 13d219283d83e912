import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Overruled, putRight, putRightAt } from './overruled.ts';

test('at once at first, then ever later, and at once again after a minute of peace', () => {
  assert.equal(putRightAt(undefined), 0);
  let overruled: Overruled | undefined;
  let now = 100_000;
  const waits = Array.from({ length: 6 }, () => {
    overruled = putRight(overruled, now);
    const wait = putRightAt(overruled) - now;
    now += wait;
    return wait;
  });
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  assert.equal(putRight(overruled, now + 60_000).times, 1);
});
