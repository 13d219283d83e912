import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bucket, type BucketSettings, fullBucket, returnToken, takeToken } from './token-bucket.ts';

/** Waits of pulls that come at these times. */
function waits(settings: BucketSettings, times: readonly number[]): readonly number[] {
  let bucket: Bucket = fullBucket(settings, 0);
  return times.map((now) => {
    const taken = takeToken(bucket, settings, now);
    bucket = taken.bucket;
    return Math.round(taken.waitMs);
  });
}

const cases: readonly (readonly [string, BucketSettings, readonly number[], readonly number[]])[] = [
  ['the burst goes at once, the rest one after the other', { qps: 5, burst: 3 }, [0, 0, 0, 0, 0], [0, 0, 0, 200, 400]],
  ['time brings tokens back', { qps: 5, burst: 2 }, [0, 0, 200, 200], [0, 0, 0, 200]],
  ['no more are saved up than the burst', { qps: 5, burst: 1 }, [0, 60_000, 60_000], [0, 0, 200]],
  ['no limit', { qps: 0, burst: 1 }, [0, 0, 0], [0, 0, 0]],
  ['a burst of nothing still lets one in', { qps: 10, burst: 0 }, [0, 0], [0, 100]],
  ['a clock that stands still', { qps: 1, burst: 1 }, [10, 5, 5], [0, 1000, 2000]],
];

for (const [name, settings, times, expected] of cases) {
  test(name, () => assert.deepEqual(waits(settings, times), expected));
}

test('who leaves gives its token back', () => {
  const settings = { qps: 1, burst: 1 };
  let bucket = takeToken(fullBucket(settings, 0), settings, 0).bucket;
  bucket = takeToken(bucket, settings, 0).bucket;
  assert.equal(takeToken(returnToken(bucket, settings), settings, 0).waitMs, 1000);
  assert.deepEqual(returnToken(fullBucket(settings, 0), settings), fullBucket(settings, 0));
});
