/** What requests to the container runtime depend on that only this machine knows. Read once: none of it changes while a kubelet runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupVersion, limitsSwap, memoryBytes, onlineCpus, swapBytes } from './machine.ts';

export interface RuntimeFacts {
  readonly cgroupVersion: 1 | 2;
  /** Bytes. */
  readonly memoryCapacity: bigint;
  readonly swapCapacity: bigint;
  /** The kernel can limit the swap of a cgroup. */
  readonly swapController: boolean;
  /** As cgroup files name them: `2MB`. */
  readonly hugePageSizes: readonly string[];
  /** Bytes. */
  readonly pageSize: number;
  readonly selinux: boolean;
  /** Directories with the temperatures of the processors, which containers must not see. */
  readonly thermalPaths: readonly string[];
}

export function readRuntimeFacts(): RuntimeFacts {
  const version = cgroupVersion();
  return {
    cgroupVersion: version,
    memoryCapacity: memoryBytes(),
    swapCapacity: swapBytes(),
    swapController: limitsSwap(version),
    hugePageSizes: hugePageSizes(),
    pageSize: pageSize(),
    selinux: existsSync('/sys/fs/selinux/enforce'),
    thermalPaths: thermalPaths(onlineCpus()),
  };
}

export function pageSize(smaps = '/proc/self/smaps'): number {
  return Number(/^KernelPageSize:\s+(\d+) kB$/m.exec(readFileSync(smaps, 'utf8'))?.[1] ?? '4') * 1024;
}

/** `hugepages-2048kB` becomes `2MB`, as cgroup files name it. */
export function hugePageSizes(directory = '/sys/kernel/mm/hugepages'): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((name) => Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0))
    .filter((kilobytes) => kilobytes > 0)
    .map((kilobytes) => {
      if (kilobytes >= 1024 * 1024) return `${kilobytes / (1024 * 1024)}GB`;
      return kilobytes >= 1024 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`;
    });
}

export function thermalPaths(cpus: readonly number[], directory = '/sys/devices/system/cpu'): readonly string[] {
  return cpus.map((cpu) => join(directory, `cpu${cpu}`, 'thermal_throttle')).filter((path) => existsSync(path));
}
