import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planLimitChange } from './cgroup-resize.ts';

const reading = (files: Readonly<Record<string, string>>) => (file: string) => files[file];
const V1 = {
  'cpu.shares': '102',
  'cpu.cfs_quota_us': '10000',
  'cpu.cfs_period_us': '100000',
  'memory.limit_in_bytes': '1000',
};
const V2 = { 'cpu.weight': '4', 'cpu.max': '10000 100000', 'memory.max': '1000' };
const BEFORE = { cpuShares: 102, cpuQuota: 10_000, cpuPeriod: 100_000, memory: 1000n };
const unlimited1 = { ...V1, 'cpu.cfs_quota_us': '-1', 'memory.limit_in_bytes': '9223372036854771712' };
const unlimited2 = { ...V2, 'cpu.max': 'max 100000', 'memory.max': 'max' };

for (const [version, files, unlimited] of [
  [1, V1, unlimited1],
  [2, V2, unlimited2],
] as const) {
  const plan = (desired: object, have: Readonly<Record<string, string>> = files) =>
    planLimitChange({ ...BEFORE, ...desired }, reading(have), version);

  test(`v${version}: what is so already is not written`, () => {
    assert.deepEqual(plan({}), { grow: {}, shrink: {} });
  });
  test(`v${version}: what grows and what shrinks is told apart for each limit`, () => {
    assert.deepEqual(plan({ cpuShares: 204, memory: 900n }), { grow: { cpuShares: 204 }, shrink: { memory: 900n } });
    assert.deepEqual(plan({ cpuQuota: 5000, memory: 2000n }), {
      grow: { memory: 2000n },
      shrink: { cpuQuota: 5000, cpuPeriod: 100_000 },
    });
  });
  test(`v${version}: a first limit is less than none, and none is more than any`, () => {
    const { grow, shrink } = plan({}, unlimited);
    assert.deepEqual([grow, shrink], [{}, { cpuQuota: 10_000, cpuPeriod: 100_000, memory: 1000n }]);
    assert.deepEqual(plan({ cpuQuota: -1 }).grow, { cpuQuota: -1, cpuPeriod: 100_000 });
  });
  test(`v${version}: a limit that the pod does not have stays as it is`, () => {
    const { cpuShares } = BEFORE;
    assert.deepEqual(planLimitChange({ cpuShares }, reading(files), version), { grow: {}, shrink: {} });
  });
}
