/**
 * A machine in memory with the same ports as a real one: a whole kubelet runs on it as fast as its clock is moved, several of them in one process, on any
 * system and without rights. Its files are real ones, below a directory that the test gives the kubelet.
 */
import { CodedError } from '../../base/errors.ts';
import { TEST_MACHINE } from '../../model/machine-testing.ts';
import type { MountEntry } from '../mount-table.ts';
import type { PacketFilter } from '../packet-filter.ts';
import type { Host, HostMounts } from '../ports.ts';
import { createSimulatedCgroups, type SimulatedCgroups } from './cgroups-testing.ts';
import { createSimulatedFiles, type SimulatedFiles } from './files-testing.ts';

export interface SimulatedMachine {
  readonly hostName: string;
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly bootedAt: number;
}

export interface SimulatedHost extends Host {
  readonly files: SimulatedFiles;
  readonly cgroups: SimulatedCgroups;
}

const GIBIBYTE = 2n ** 30n;

const SMALL_MACHINE: SimulatedMachine = {
  hostName: 'simulated',
  address: '192.0.2.10',
  bootedAt: 1_700_000_000_000,
};

export function createSimulatedHost(given: Partial<SimulatedMachine> = {}): SimulatedHost {
  const machine = { ...SMALL_MACHINE, ...given };
  const mounts = createSimulatedMounts();
  return {
    files: createSimulatedFiles(mounts),
    mounts,
    cgroups: createSimulatedCgroups(),
    processes: {
      inCgroup: () => [],
      uptime: () => 0,
      commandOf: () => undefined,
      kill: () => undefined,
      isKernelThread: () => false,
    },
    kernel: createSimulatedKernel(),
    openBus: () => ({
      call: () => Promise.reject(new CodedError('unavailable', 'a simulated machine has no system bus')),
      subscribe: () => () => undefined,
      close: () => undefined,
    }),
    network: {
      hostName: () => machine.hostName,
      interfaces: () => () => [{ name: 'eth0', up: true, loopback: false, addresses: [machine.address] }],
      defaultRoutes: () => [{ family: 4, interface: 'eth0' }],
      resolve: () => Promise.resolve([]),
      packetFilter: () => noIptables,
    },
    machine: simulatedMachine(machine),
    capacity: { processLimit: () => 32_768n, diskBytes: () => 64n * GIBIBYTE },
    own: simulatedProcess(machine),
  };
}

/** A machine without iptables. */
const noIptables: PacketFilter = {
  version: () => Promise.resolve(undefined),
  rules: () => Promise.resolve(undefined),
  restore: () => Promise.reject(new CodedError('unsupported', 'a simulated machine has no iptables')),
  watch: () => ({ close: () => undefined }),
};

function createSimulatedKernel(): Host['kernel'] {
  const settings = new Map<string, number>();
  return {
    followLog: (listener) => {
      queueMicrotask(listener.onDrained);
      return { close: () => undefined };
    },
    readSetting: (name) => settings.get(name) ?? 0,
    writeSetting: (name, value) => void settings.set(name, value),
  };
}

function createSimulatedMounts(): HostMounts {
  const mounted: MountEntry[] = [];
  return {
    mount: ({ source, target, type, data }) => {
      const id = mounted.length + 1;
      const entry = { id, parent: 0, device: `0:${id}`, root: '/', point: target, type, source };
      mounted.push({ ...entry, options: 'rw', superOptions: data });
    },
    unmount: (target) => {
      const at = mounted.findLastIndex(({ point }) => point === target);
      if (at >= 0) mounted.splice(at, 1);
    },
    table: () => [...mounted],
    leadsToForeign: () => false,
  };
}

function simulatedMachine({ hostName }: SimulatedMachine): Host['machine'] {
  const identity = {
    machineId: `machine-of-${hostName}`,
    systemUuid: `system-of-${hostName}`,
    bootId: `boot-of-${hostName}`,
    osImage: 'Simulated Linux',
  };
  return {
    read: () => ({ ...TEST_MACHINE, ...identity }),
    appArmorEnabled: () => false,
    runtimeFacts: () => ({
      cgroupVersion: 2,
      memoryCapacity: BigInt(TEST_MACHINE.memoryBytes),
      swapCapacity: 0n,
      swapController: true,
      hugePageSizes: [],
      pageSize: 4096,
      selinux: false,
      thermalPaths: [],
    }),
    swapAreas: () => [],
  };
}

function simulatedProcess({ bootedAt }: SimulatedMachine): Host['own'] {
  const bootedAtSeconds = bootedAt / 1000;
  return {
    pid: 1,
    usage: () => ({
      cpuSeconds: 1,
      residentBytes: 2 ** 26,
      virtualBytes: 2 ** 30,
      virtualLimitBytes: Number.POSITIVE_INFINITY,
      openFiles: 10,
      openFilesLimit: 1024,
      startedAtSeconds: bootedAtSeconds,
      bootedAtSeconds,
      receivedBytes: 0,
      sentBytes: 0,
    }),
    raiseOpenFiles: (limit) => ({ limit, shortfall: undefined }),
    setOomScore: () => undefined,
    giveBackMemory: () => undefined,
    releaseProgramPages: () => Promise.resolve(),
    acquireFileLock: () => Promise.resolve({ onContention: () => undefined, release: () => undefined }),
  };
}
