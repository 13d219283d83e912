import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupValues, hugePageName, sharesToWeight } from './cgroup-files.ts';
import type { CgroupLimits } from './cgroup-limits.ts';

const controllers = new Set(['cpu', 'memory', 'pids', 'hugetlb']);
const hugePageSizes = [2n ** 21n, 2n ** 30n];

function filesOf(
  limits: CgroupLimits,
  version: 1 | 2,
  known: ReadonlySet<string> = controllers,
): Record<string, string> {
  const values = cgroupValues(limits, { version, controllers: known, hugePageSizes });
  return Object.fromEntries(values.map(({ file, value }) => [file, value]));
}

test('limits as files of both generations', () => {
  const limits: CgroupLimits = {
    cpuShares: 512,
    cpuQuota: 50_000,
    cpuPeriod: 100_000,
    memory: 64n * 2n ** 20n,
    pids: 100,
  };
  assert.deepEqual(filesOf(limits, 1), {
    'cpu.shares': '512',
    'cpu.cfs_period_us': '100000',
    'cpu.cfs_quota_us': '50000',
    'memory.limit_in_bytes': '67108864',
    'pids.max': '100',
  });
  assert.deepEqual(filesOf(limits, 2), {
    'cpu.weight': '20',
    'cpu.max': '50000 100000',
    'memory.max': '67108864',
    'pids.max': '100',
  });
});

test('what is not limited is not written', () => {
  assert.deepEqual(filesOf({}, 1), {});
  assert.deepEqual(filesOf({}, 2), {});
  assert.deepEqual(filesOf({ cpuQuota: 0, memory: 0n }, 1), {});
});

test('no quota', () => {
  assert.deepEqual(filesOf({ cpuQuota: -1, cpuPeriod: 50_000 }, 1), {
    'cpu.cfs_quota_us': '-1',
    'cpu.cfs_period_us': '50000',
  });
  assert.deepEqual(filesOf({ cpuQuota: -1 }, 2), { 'cpu.max': 'max 100000' });
});

test('no processes would let nothing in; a negative limit is none', () => {
  assert.deepEqual(filesOf({ pids: 0 }, 2), { 'pids.max': '1' });
  assert.deepEqual(filesOf({ pids: -1 }, 2), { 'pids.max': 'max' });
});

test('huge pages that are not asked for are not given', () => {
  const some = filesOf({ hugePages: new Map([[2n ** 21n, 2n ** 22n]]) }, 1);
  assert.equal(some['hugetlb.2MB.limit_in_bytes'], '4194304');
  assert.equal(some['hugetlb.2MB.rsvd.limit_in_bytes'], '4194304');
  assert.equal(some['hugetlb.1GB.limit_in_bytes'], '0');
  assert.equal(filesOf({ hugePages: 'unbounded' }, 2)['hugetlb.1GB.max'], String(2n ** 62n));
});

test('a controller that is not there is left out', () => {
  assert.deepEqual(filesOf({ cpuShares: 2, pids: 5, hugePages: new Map() }, 1, new Set(['cpu'])), {
    'cpu.shares': '2',
  });
});

test('shares and weights', () => {
  const pairs = [
    [2, 1],
    [3, 1],
    [28, 1],
    [29, 2],
    [102, 4],
    [1024, 39],
    [2048, 79],
    [10_240, 391],
    [262_144, 10_000],
    [300_000, 10_000],
  ] as const;
  for (const [shares, weight] of pairs) assert.equal(sharesToWeight(shares), weight, String(shares));
});

test('sizes in the words of the kernel', () => {
  assert.deepEqual([2n ** 16n, 2n ** 21n, 2n ** 25n, 2n ** 30n, 2n ** 34n].map(hugePageName), [
    '64KB',
    '2MB',
    '32MB',
    '1GB',
    '16GB',
  ]);
});
