/** The machine in the form of cAdvisor's MachineInfo: what `/spec/` answers. */
import { formatTimestamp } from '../../api/timestamp.ts';
import {
  coreCount,
  type HugePagePool,
  type Machine,
  type MachineCache,
  type MemoryNode,
  processorsOf,
  socketCount,
} from '../../model/machine.ts';

export interface SpecFileSystem {
  readonly device: string;
  readonly capacityBytes: number;
  readonly type: string;
  readonly inodes: number;
}

/** cAdvisor has names for what it can measure; the rest is the kernel's virtual file systems to it. */
export function specType(type: string): string {
  return type === 'zfs' ? 'zfs' : type === '' ? '' : 'vfs';
}

const KIB = 1024;

export function computeSpec(machine: Machine, fileSystems: readonly SpecFileSystem[], now: number): object {
  return {
    timestamp: formatTimestamp(now),
    vendor_id: machine.cpuVendor,
    num_cores: processorsOf(machine).length,
    num_physical_cores: coreCount(machine),
    num_sockets: socketCount(machine),
    cpu_frequency_khz: machine.cpuKilohertz,
    memory_capacity: machine.memoryBytes,
    swap_capacity: machine.swapBytes,
    memory_by_type: {},
    // A library of the vendor counts memory that keeps its content; the reference is built without it.
    nvm: { memory_mode_capacity: 0, 'app direct_mode_capacity': 0, avg_power_budget: 0 },
    hugepages: pools(machine.hugePages),
    machine_id: machine.machineId,
    system_uuid: machine.systemUuid,
    boot_id: machine.bootId,
    filesystems: fileSystems.map(({ device, capacityBytes, type, inodes }) => ({
      device,
      capacity: capacityBytes,
      type,
      inodes,
      has_inodes: true,
    })),
    disk_map: Object.fromEntries(
      machine.disks.map(({ name, major, minor, bytes, scheduler }) => [
        `${major}:${minor}`,
        { name, major, minor, size: bytes, scheduler },
      ]),
    ),
    network_devices: machine.networkDevices.map(({ name, macAddress, speed, mtu }) => ({
      name,
      mac_address: macAddress,
      speed,
      mtu,
    })),
    topology: machine.memoryNodes.map(nodePart),
    cloud_provider: machine.cloud.provider,
    instance_type: machine.cloud.instanceType,
    instance_id: machine.cloud.instanceId,
  };
}

function nodePart({ id, memoryBytes, hugePages, cores, caches, distances }: MemoryNode): object {
  return {
    node_id: id,
    memory: memoryBytes,
    hugepages: pools(hugePages),
    cores: cores.map((core) => ({
      core_id: core.id,
      thread_ids: core.threads,
      caches: core.caches.map(cachePart),
      uncore_caches: orNull(core.sharedCaches.map(cachePart)),
      socket_id: core.socket,
    })),
    caches: orNull(caches.map(cachePart)),
    distances: orNull(distances),
  };
}

const cachePart = ({ id, bytes, type, level }: MachineCache) => ({ id, size: bytes, type, level });
const pools = (all: readonly HugePagePool[]) =>
  orNull(all.map(({ pageBytes, pages }) => ({ page_size: pageBytes / KIB, num_pages: pages })));

/** Go writes a list that was never made as null. */
const orNull = <T>(list: readonly T[]) => (list.length === 0 ? null : list);
