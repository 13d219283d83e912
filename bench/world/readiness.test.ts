import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFlips, timesToReported } from './readiness.ts';

const flip = (pod: string, ready: boolean, at: number) => ({ pod, ready, at });

test('flips are read from whole lines', () => {
  const log = 'listening\n{"pod":"a","ready":true,"at":5}\n{"pod":"b","rea';
  assert.deepEqual(parseFlips(log), [flip('a', true, 5)]);
});

test('each flip is matched with the next report of the same pod and state', () => {
  const flips = [flip('a', false, 100), flip('b', false, 101), flip('a', true, 200)];
  const reports = [flip('a', true, 90), flip('b', false, 105), flip('a', false, 110), flip('a', true, 230)];
  assert.deepEqual(timesToReported(flips, reports), [10, 4, 30]);
});

test('one that is reported within the same millisecond took none', () => {
  assert.deepEqual(timesToReported([flip('a', false, 100)], [flip('a', false, 100)]), [0]);
});

test('one that was missed took until the next; what may yet come is left out', () => {
  const flips = [flip('a', false, 100), flip('a', true, 200), flip('a', false, 300)];
  assert.deepEqual(timesToReported(flips, [flip('a', true, 210)]), [100, 10]);
});
