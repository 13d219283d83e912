import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadTree, RECORDED_PODS } from '../../../tests/recorded/systemd/node.ts';
import type { Pod } from '../../api/pod.ts';
import { applyPodDefaults } from '../../api/pod-defaults.ts';
import { cgroupValues, sharesToWeight } from './cgroup-files.ts';
import { podCgroupLimits } from './cgroup-limits.ts';
import { qosParentLimits } from './qos-parents.ts';
import { roundForSystemd, sliceProperties, unitProperties } from './unit-properties.ts';

/** On cgroup v2 the recorded kubelet also protected the memory that pods request. */
const settingsOf = (version: 1 | 2) => ({
  podLevel: true,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  podPidsLimit: 200,
  protectMemory: version === 2,
});
const podOf = (name: string): Pod =>
  applyPodDefaults({
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

for (const version of [1, 2] as const) {
  test(`cgroup v${version}: the recorded slices had these properties, and these values in files`, () => {
    const { units, files } = loadTree(`v${version}`);
    const controllers = new Set(['cpu', 'memory', 'pids', 'hugetlb']);
    for (const name of Object.keys(RECORDED_PODS)) {
      const [unit, recorded] = Object.entries(units).find(([key]) => key.endsWith(`podUID.${name}.slice`)) ?? ['', {}];
      const limits = podCgroupLimits(podOf(name), settingsOf(version));
      const made = sliceProperties(unit, recorded['Slice'] ?? '', version);
      for (const { name: property, value } of [...made, ...unitProperties(limits, { version, systemdVersion: 252 })]) {
        assert.equal(shown(property, value.value), recorded[property], `${unit}: ${property}`);
      }
      const [, values] = Object.entries(files).find(([path]) => path.endsWith(unit)) ?? [];
      const hugePageSizes = version === 2 ? [2n ** 21n] : [];
      const written = cgroupValues(roundForSystemd(limits), { version, controllers, hugePageSizes });
      assert.ok(written.length >= 2);
      for (const { file, value } of written) assert.equal(value, values?.[file], `${unit}: ${file}`);
    }
  });
}

test('the recorded classes protected what their pods request, on cgroup v2', () => {
  const { files } = loadTree('v2');
  const settings = { podLevel: true, protectMemory: true, reservedMemoryPercent: undefined, memoryForPods: 0n };
  const parents = qosParentLimits(Object.keys(RECORDED_PODS).map(podOf), settings);
  const recorded = (path: string, file: string) => files[`/kubepods.slice${path}`]?.[file];
  assert.equal(String(parents.Guaranteed.memoryMin), recorded('', 'memory.min'));
  assert.equal(String(parents.Burstable.memoryLow), recorded('/kubepods-burstable.slice', 'memory.low'));
  assert.equal(
    sharesToWeight(parents.Burstable.cpuShares ?? 0),
    Number(recorded('/kubepods-burstable.slice', 'cpu.weight')),
  );
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
