/**
 * A machine in memory with the same ports as a real one: a whole kubelet runs on it as fast as its clock is moved, several of them in one process, on any
 * system and without rights. Its files are real ones, below a directory that the test gives the kubelet.
 */
import type { MountEntry } from '../mount-table.ts';
import type { Host, HostMounts } from '../ports.ts';
import { createSimulatedCgroups, type SimulatedCgroups } from './cgroups-testing.ts';
import { createSimulatedFiles, type SimulatedFiles } from './files-testing.ts';

export interface SimulatedMachine {
  readonly hostName: string;
  readonly cpus: number;
  readonly memoryBytes: bigint;
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
  cpus: 4,
  memoryBytes: 8n * GIBIBYTE,
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
    processes: { inCgroup: () => [], uptime: () => 0, commandOf: () => undefined, kill: () => undefined },
    network: {
      hostName: () => machine.hostName,
      interfaces: () => () => [{ name: 'eth0', up: true, loopback: false, addresses: [machine.address] }],
      defaultRoutes: () => [{ family: 4, interface: 'eth0' }],
      resolve: () => Promise.resolve([]),
    },
    machine: simulatedMachine(machine),
    capacity: {
      onlineCpus: () => [...Array(machine.cpus).keys()],
      cpuTopology: () => ({ cores: machine.cpus, sockets: 1 }),
      memoryBytes: () => machine.memoryBytes,
      hugePages: () => new Map(),
      processLimit: () => 32_768n,
      diskBytes: () => 64n * GIBIBYTE,
    },
    own: simulatedProcess(machine),
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

function simulatedMachine({ hostName, memoryBytes }: SimulatedMachine): Host['machine'] {
  const kernelVersion = '6.12.0-simulated';
  return {
    architecture: () => 'amd64',
    kernelVersion: () => kernelVersion,
    appArmorEnabled: () => false,
    identity: () => ({
      machineId: `machine-of-${hostName}`,
      systemUuid: `system-of-${hostName}`,
      bootId: `boot-of-${hostName}`,
      kernelVersion,
      osImage: 'Simulated Linux',
      architecture: 'amd64',
      swap: 0,
    }),
    runtimeFacts: () => ({
      cgroupVersion: 2,
      memoryCapacity: memoryBytes,
      swapCapacity: 0n,
      swapController: true,
      hugePageSizes: [],
      pageSize: 4096,
      selinux: false,
      thermalPaths: [],
    }),
    swapAreas: () => [],
    followKernelLog: (listener) => {
      queueMicrotask(listener.onDrained);
      return { close: () => undefined };
    },
  };
}

function simulatedProcess({ bootedAt }: SimulatedMachine): Host['own'] {
  const bootedAtSeconds = bootedAt / 1000;
  return {
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
