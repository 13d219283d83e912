import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOffUntil, isForgotten, nextFailure, type PullFailure } from './pull-back-off.ts';

test('waits double from 10 seconds to 5 minutes', () => {
  const waits: number[] = [];
  let last: PullFailure | undefined;
  let now = 1_000_000;
  for (let attempt = 0; attempt < 8; attempt += 1) {
    last = nextFailure(last, 'no', now);
    waits.push(last.waitMs / 1000);
    now += last.waitMs;
  }
  assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300, 300]);
});

test('no attempt before the wait is over, then one', () => {
  const last = nextFailure(undefined, 'no', 5_000);
  assert.equal(backOffUntil(undefined, 5_000), undefined);
  assert.equal(backOffUntil(last, 5_000), 15_000);
  assert.equal(backOffUntil(last, 14_999), 15_000);
  assert.equal(backOffUntil(last, 15_000), undefined);
  assert.equal(backOffUntil(last, 4_000), undefined, 'the clock was set back');
});

test('after ten minutes the back-off starts again', () => {
  const last: PullFailure = { waitMs: 160_000, at: 0, error: 'no' };
  assert.equal(isForgotten(last, 600_000), false);
  assert.equal(nextFailure(last, 'no', 600_000).waitMs, 300_000);
  assert.equal(isForgotten(last, 600_001), true);
  assert.equal(nextFailure(last, 'no', 600_001).waitMs, 10_000);
});
