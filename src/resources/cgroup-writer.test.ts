import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { Cgroups } from '../host/cgroups.ts';
import { type CgroupWriterDeps, createCgroupWriter } from './cgroup-writer.ts';

const never = new AbortController().signal;
const name = ['kubepods', 'burstable', 'poda-1'];
const unit = 'kubepods-burstable-poda_1.slice';
const path = `/kubepods.slice/kubepods-burstable.slice/${unit}`;

function createFake(more: { readonly removed?: boolean; readonly stopError?: Error } = {}) {
  const done: string[] = [];
  const cgroups: Partial<Cgroups> = {
    version: 1,
    controllers: async () => new Set(['cpu', 'memory']),
    create: (at) => void done.push(`create ${at}`),
    write: (at, values) => {
      done.push(`write ${at} ${values.map(({ file, value }) => `${file}=${value}`).join(' ')}`);
      return [];
    },
    kill: async (at) => done.push(`kill ${at}`),
    remove: (at) => {
      done.push(`remove ${at}`);
      return Promise.resolve(more.removed ?? true);
    },
  };
  const operations: string[] = [];
  const deps: CgroupWriterDeps = {
    clock: createManualClock(),
    onOperation: (operation) => operations.push(operation),
    log: createSilentLogger(),
    cgroups: cgroups as Cgroups,
    hugePageSizes: () => [],
    systemd: {
      version: async () => 252,
      startTransientUnit: async (started, properties) =>
        void done.push(`start ${started} ${properties.map((property) => property.name).join(' ')}`),
      setUnitProperties: async (given, properties) =>
        void done.push(
          `set ${given} ${properties.map((property) => `${property.name}=${property.value.value}`).join(' ')}`,
        ),
      stopUnit: (stopped) => {
        done.push(`stop ${stopped}`);
        return more.stopError === undefined ? Promise.resolve() : Promise.reject(more.stopError);
      },
    },
  };
  return { done, operations, writer: createCgroupWriter(deps, 'systemd') };
}

test('a slice is a unit first, then directories in the other hierarchies, then limits in both', async () => {
  const { done, operations, writer } = createFake();
  await writer.create(name, { cpuQuota: 12_345, cpuPeriod: 100_000, memory: 7n }, never);
  const created = 'MemoryAccounting CPUAccounting BlockIOAccounting TasksAccounting DefaultDependencies';
  assert.deepEqual(done, [
    `start ${unit} Description Wants ${created}`,
    `create ${path}`,
    `set ${unit} MemoryLimit=7 CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000`,
    `write ${path} cpu.cfs_period_us=100000 cpu.cfs_quota_us=13000 memory.limit_in_bytes=7`,
  ]);
  await writer.update(name, {}, never);
  assert.equal(await writer.remove(name, never), true);
  assert.deepEqual(operations, ['create', 'update', 'destroy']);
});

test('what runs in a slice is ended before systemd stops it; a slice that does not stop is no reason to leave its directories', async () => {
  const { done, operations, writer } = createFake({ stopError: new Error('stuck'), removed: false });
  assert.equal(await writer.remove(name, never), false);
  assert.deepEqual(done, [`kill ${path}`, `stop ${unit}`, `remove ${path}`]);
  assert.deepEqual(operations, []);
});
