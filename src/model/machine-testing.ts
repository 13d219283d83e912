/** A machine for tests: two sockets with a memory node each, two cores with two threads in each of them. */
import type { Machine, MachineCore, MemoryNode } from './machine.ts';

const GIBIBYTE = 1024 ** 3;

const core = (socket: number, id: number): MachineCore => ({
  id,
  socket,
  threads: [socket * 2 + id, 4 + socket * 2 + id],
  caches: [{ id: socket * 2 + id, bytes: 32 * 1024, type: 'Data', level: 1 }],
  sharedCaches: [],
});

const node = (id: number): MemoryNode => ({
  id,
  memoryBytes: 8 * GIBIBYTE,
  hugePages: [{ pageBytes: 2 * 1024 * 1024, pages: 64 }],
  cores: [core(id, 0), core(id, 1)],
  caches: [{ id, bytes: 16 * 1024 * 1024, type: 'Unified', level: 3 }],
  distances: id === 0 ? [10, 21] : [21, 10],
});

export const TEST_MACHINE: Machine = {
  machineId: 'machine',
  systemUuid: 'system',
  bootId: 'boot',
  kernelVersion: '6.1.0',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  architecture: 'amd64',
  cpuVendor: 'GenuineIntel',
  cpuKilohertz: 2_300_000,
  memoryBytes: 16 * GIBIBYTE,
  swapBytes: 0,
  hugePages: [{ pageBytes: 2 * 1024 * 1024, pages: 128 }],
  memoryNodes: [node(0), node(1)],
  disks: [{ name: 'vda', major: 254, minor: 0, bytes: 100 * GIBIBYTE, scheduler: 'none' }],
  networkDevices: [{ name: 'eth0', macAddress: '02:00:00:00:00:01', speed: 1000, mtu: 1500 }],
  cloud: { provider: 'Unknown', instanceType: 'Unknown', instanceId: 'None' },
};
