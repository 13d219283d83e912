import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadTree, RECORDED_PODS } from '../../../tests/recorded/systemd/node.ts';
import type { Pod } from '../../api/pod.ts';
import { podCgroupLimits } from './cgroup-limits.ts';
import { roundForSystemd, sliceProperties, unitProperties } from './unit-properties.ts';

const settings = {
  podLevel: true,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  podPidsLimit: 200,
  protectMemory: false,
};
const podOf = (name: string): Pod => ({
  metadata: { name, namespace: 'default', uid: `UID.${name}` },
  spec: RECORDED_PODS[name] as Pod['spec'],
});
const kernel = { version: 1, systemdVersion: 252 } as const;

/** As `systemctl show` prints it. */
function shown(name: string, value: unknown): string {
  if (value === 2n ** 64n - 1n) return 'infinity';
  if (name.endsWith('USec')) return `${Number(value) / 1000}ms`;
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

test('the recorded slices had these properties, and these values in files', () => {
  const { units, files } = loadTree('v1');
  for (const name of Object.keys(RECORDED_PODS)) {
    const [unit, recorded] = Object.entries(units).find(([key]) => key.endsWith(`podUID.${name}.slice`)) ?? ['', {}];
    const limits = podCgroupLimits(podOf(name), settings);
    const parent = recorded['Slice'] ?? '';
    for (const { name: property, value } of [...sliceProperties(unit, parent, 1), ...unitProperties(limits, kernel)]) {
      assert.equal(shown(property, value.value), recorded[property], `${unit}: ${property}`);
    }
    const [, values] = Object.entries(files).find(([path]) => path.endsWith(unit)) ?? [];
    const { cpuQuota } = roundForSystemd(limits);
    assert.equal(String(cpuQuota ?? -1), values?.['cpu.cfs_quota_us'], unit);
  }
});

const propertiesOf = (...given: Parameters<typeof unitProperties>) =>
  Object.fromEntries(unitProperties(...given).map(({ name, value }) => [name, value.value]));

test('properties of cgroup v2', () => {
  const limits = {
    cpuShares: 512,
    cpuQuota: 12_345,
    cpuPeriod: 100_000,
    memory: 7n,
    pids: -1,
    cpus: '0-1,9',
    memoryMin: 5n,
    memoryLow: 6n,
  };
  assert.deepEqual(propertiesOf(limits, { version: 2, systemdVersion: 252 }), {
    MemoryMax: 7n,
    CPUWeight: 20n,
    CPUQuotaPeriodUSec: 100_000n,
    CPUQuotaPerSecUSec: 130_000n,
    TasksMax: 2n ** 64n - 1n,
    AllowedCPUs: [0b11, 0b10],
    MemoryMin: 5n,
    MemoryLow: 6n,
  });
});

test('an old systemd has no period and no processors; no processes would let nothing in; no limit is one, too', () => {
  const limits = { cpuQuota: -1, cpuPeriod: 100_000, cpus: '0', pids: 0, memory: -1n };
  assert.deepEqual(propertiesOf(limits, { version: 1, systemdVersion: 239 }), {
    MemoryLimit: 2n ** 64n - 1n,
    CPUQuotaPerSecUSec: 2n ** 64n - 1n,
    TasksMax: 1n,
  });
  assert.deepEqual(propertiesOf({}, kernel), {});
  assert.deepEqual(roundForSystemd({ cpuQuota: 20_000, cpuPeriod: 100_000 }).cpuQuota, 20_000);
  assert.deepEqual(roundForSystemd({ cpuQuota: 1001, cpuPeriod: 10_000 }).cpuQuota, 1100);
});
