import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokenBucket } from './token-bucket.ts';

test('token bucket: a burst, then one at a time', () => {
  const bucket = createTokenBucket({ burst: 2, perSecond: 10 }, 1000);
  assert.deepEqual([bucket.take(1000), bucket.take(1000), bucket.take(1000)], [true, true, false]);
  assert.equal(bucket.waitMs(1000), 100);
  assert.equal(bucket.take(1099), false);
  assert.equal(bucket.take(1100), true);
});

test('token bucket: never fuller than its burst', () => {
  const bucket = createTokenBucket({ burst: 2, perSecond: 10 }, 0);
  assert.deepEqual([bucket.take(1e6), bucket.take(1e6), bucket.take(1e6)], [true, true, false]);
});

test('token bucket: a clock that is set back gives nothing and takes nothing', () => {
  const bucket = createTokenBucket({ burst: 1, perSecond: 1 }, 5000);
  assert.equal(bucket.take(5000), true);
  assert.equal(bucket.take(1000), false);
  assert.equal(bucket.take(2000), true);
});
