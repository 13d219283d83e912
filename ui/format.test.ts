import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, bytes, cores, percent, perSecond } from './format.ts';

test('sizes', () => {
  assert.deepEqual([0, 1023, 1024, 123_456_789, 5e12].map(bytes), ['0 B', '1023 B', '1.0 KiB', '118 MiB', '4.5 TiB']);
  assert.deepEqual([bytes(null), perSecond(undefined), perSecond(2048)], ['–', '–', '2.0 KiB/s']);
});

test('cores and percent', () => {
  assert.deepEqual([cores(0.0421), cores(1.5), cores(null), percent(2.14)], ['42 m', '1.50', '–', '2.1 %']);
});

test('ages', () => {
  const of = (seconds: number) => age(seconds * 1000);
  assert.deepEqual([-5, 5, 119, 130, 600, 7300, 200_000, 900_000].map(of), [
    '0s',
    '5s',
    '119s',
    '2m10s',
    '10m',
    '2h1m',
    '2d7h',
    '10d',
  ]);
});
