/**
 * The machine that the kubelet runs on. One value, read once and passed to all parts: the node's object, statistics, and what shares
 * out processors and memory. A test passes another machine, with more sockets and memory nodes than its own.
 */

export interface MachineCache {
  readonly id: number;
  readonly bytes: number;
  /** `Data`, `Instruction` or `Unified`. */
  readonly type: string;
  readonly level: number;
}

export interface MachineCore {
  /** Within its socket. */
  readonly id: number;
  readonly socket: number;
  /** The processors that share the core, by the numbers that the kernel gives them. */
  readonly threads: readonly number[];
  /** Of this core alone. */
  readonly caches: readonly MachineCache[];
  /** Shared with some cores of its memory node. */
  readonly sharedCaches: readonly MachineCache[];
}

export interface HugePagePool {
  readonly pageBytes: number;
  readonly pages: number;
}

export interface MemoryNode {
  readonly id: number;
  readonly memoryBytes: number;
  readonly hugePages: readonly HugePagePool[];
  readonly cores: readonly MachineCore[];
  /** Shared by all of its cores. */
  readonly caches: readonly MachineCache[];
  /** To each memory node, in the kernel's unit; empty where it does not say. */
  readonly distances: readonly number[];
}

export interface MachineDisk {
  readonly name: string;
  readonly major: number;
  readonly minor: number;
  readonly bytes: number;
  readonly scheduler: string;
}

export interface NetworkDevice {
  readonly name: string;
  readonly macAddress: string;
  /** Megabits a second; 0: not known. */
  readonly speed: number;
  readonly mtu: number;
}

/** `Unknown` outside of the clouds that can be told by their firmware. */
export interface MachineCloud {
  readonly provider: string;
  readonly instanceType: string;
  readonly instanceId: string;
}

export interface Machine {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** As container images name it: `amd64`. */
  readonly architecture: string;
  readonly cpuVendor: string;
  readonly cpuKilohertz: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly hugePages: readonly HugePagePool[];
  /** At least one. Only processors in use. */
  readonly memoryNodes: readonly MemoryNode[];
  readonly disks: readonly MachineDisk[];
  readonly networkDevices: readonly NetworkDevice[];
  readonly cloud: MachineCloud;
}

/** Bytes set aside for huge pages, by page size in bytes. */
export function hugePageBytes({ hugePages }: Pick<Machine, 'hugePages'>): ReadonlyMap<bigint, bigint> {
  return new Map(hugePages.map(({ pageBytes, pages }) => [BigInt(pageBytes), BigInt(pageBytes) * BigInt(pages)]));
}

/** The processors in use, by number. */
export function processorsOf({ memoryNodes }: Pick<Machine, 'memoryNodes'>): readonly number[] {
  return memoryNodes.flatMap(({ cores }) => cores.flatMap(({ threads }) => threads)).toSorted((a, b) => a - b);
}

export function coreCount({ memoryNodes }: Pick<Machine, 'memoryNodes'>): number {
  return new Set(memoryNodes.flatMap(({ cores }) => cores.map(({ id, socket }) => `${socket}:${id}`))).size;
}

export function socketCount({ memoryNodes }: Pick<Machine, 'memoryNodes'>): number {
  return new Set(memoryNodes.flatMap(({ cores }) => cores.map(({ socket }) => socket))).size;
}
