import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Machine } from '../../model/machine.ts';
import { TEST_MACHINE } from '../../model/machine-testing.ts';
import { computeSpec } from './spec.ts';

/** What cAdvisor said of one machine. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', 'spec.json'), 'utf8'));

/** The same machine as a value. */
function machineOf(spec: typeof recorded): Machine {
  type Found = Readonly<Record<string, never>>;
  const pools = (found: readonly { page_size: number; num_pages: number }[]) =>
    found.map(({ page_size, num_pages }) => ({ pageBytes: page_size * 1024, pages: num_pages }));
  const caches = (found: readonly { size: number }[] | null) =>
    (found ?? []).map(({ size, ...rest }) => ({ ...(rest as Found), bytes: size }) as never);
  return {
    ...TEST_MACHINE,
    cpuVendor: spec.vendor_id,
    cpuKilohertz: spec.cpu_frequency_khz,
    memoryBytes: spec.memory_capacity,
    hugePages: pools(spec.hugepages),
    memoryNodes: spec.topology.map((node: typeof recorded) => ({
      id: node.node_id,
      memoryBytes: node.memory,
      hugePages: pools(node.hugepages),
      caches: caches(node.caches),
      distances: node.distances,
      cores: node.cores.map((core: typeof recorded) => ({
        id: core.core_id,
        socket: core.socket_id,
        threads: core.thread_ids,
        caches: caches(core.caches),
        sharedCaches: caches(core.uncore_caches),
      })),
    })),
    disks: Object.values(spec.disk_map as Readonly<Record<string, { size: number }>>).map(
      ({ size, ...rest }) => ({ ...rest, bytes: size }) as never,
    ),
    networkDevices: spec.network_devices.map(({ mac_address, ...rest }: { mac_address: string }) => ({
      ...rest,
      macAddress: mac_address,
    })),
  };
}

test('a machine has the form that cAdvisor gave it', () => {
  const [{ device, capacity, type, inodes }] = recorded.filesystems;
  const spec = computeSpec(machineOf(recorded), [{ device, capacityBytes: capacity, type, inodes }], 0);
  assert.deepEqual({ ...spec, timestamp: '' }, { ...recorded, timestamp: '' });
});
