import assert from 'node:assert/strict';
import { test } from 'node:test';
import { milliCpuToQuota, milliCpuToShares } from './cpu-units.ts';

test('shares: 1024 for a CPU, rounded down, never outside what the kernel takes', () => {
  const cases: readonly (readonly [number, number])[] = [
    [0, 2],
    [1, 2],
    [2, 2],
    [20, 20],
    [100, 102],
    [400, 409],
    [1000, 1024],
    [256_000, 262_144],
    [300_000, 262_144],
  ];
  for (const [milliCpu, shares] of cases) assert.equal(milliCpuToShares(milliCpu), shares, `${milliCpu}m`);
});

test('quota: a part of the period, at least a millisecond, none where there is no limit', () => {
  const cases: readonly (readonly [number, number, number])[] = [
    [0, 100_000, 0],
    [1, 100_000, 1000],
    [10, 100_000, 1000],
    [11, 100_000, 1100],
    [400, 100_000, 40_000],
    [2500, 100_000, 250_000],
    [400, 10_000, 4000],
    [3, 5000, 1000],
  ];
  for (const [milliCpu, period, quota] of cases) assert.equal(milliCpuToQuota(milliCpu, period), quota, `${milliCpu}m`);
});
