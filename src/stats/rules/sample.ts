/** What is read of one cgroup at one moment, in one form for both generations of cgroups. Times are nanoseconds, sizes bytes. */
import type { Pressure } from './kernel-text.ts';

/** The text of a file of this cgroup; undefined where there is none. On the second generation the controller does not matter. */
export type ReadFile = (controller: string, file: string) => string | undefined;

export interface CpuSample {
  readonly usage: number;
  readonly user: number;
  readonly system: number;
  readonly periods: number;
  readonly throttledPeriods: number;
  readonly throttled: number;
  readonly burstPeriods: number;
  readonly burst: number;
  readonly pressure: Pressure;
}

export interface MemorySample {
  readonly usage: number;
  readonly peak: number;
  /** How often the limit was hit. */
  readonly failures: number;
  readonly kernel: number;
  readonly cache: number;
  readonly rss: number;
  readonly swap: number;
  readonly mappedFile: number;
  readonly activeFile: number;
  readonly inactiveFile: number;
  /** What can't be dropped at once: the usage without the inactive part of the page cache. */
  readonly workingSet: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  readonly oomKills: number;
  readonly pressure: Pressure;
}

/** One disk: what was done to it, by operation (`Read`, `Write`, `Total`…). */
export interface DiskCounters {
  readonly major: number;
  readonly minor: number;
  readonly operations: Readonly<Record<string, number>>;
}

export interface IoSample {
  readonly bytes: readonly DiskCounters[];
  readonly serviced: readonly DiskCounters[];
  readonly pressure: Pressure;
}

/** What the cgroup is held to. Infinity: no limit. */
export interface CgroupSpec {
  readonly cpu: { readonly shares: number; readonly period: number; readonly quota: number | undefined } | undefined;
  readonly memory: MemorySpec | undefined;
  /** Processes and threads; 0: no limit. */
  readonly tasks: number;
}

export interface MemorySpec {
  readonly limit: number;
  readonly swapLimit: number;
  readonly reservation: number;
}

export const tasksOf = (limit = 0): number => (Number.isFinite(limit) ? limit : 0);

export function workingSetOf(usage: number, inactiveFile: number): number {
  return Math.max(usage - inactiveFile, 0);
}

/** Reads the parts of a cgroup. A part whose controller is not here, or whose files make no sense, is undefined. */
export interface CgroupReader {
  cpu(read: ReadFile, spec: CgroupSpec): CpuSample | undefined;
  memory(read: ReadFile, spec: CgroupSpec): MemorySample | undefined;
  io(read: ReadFile): IoSample | undefined;
  /** Processes and threads. */
  tasks(read: ReadFile): number | undefined;
  spec(read: ReadFile): CgroupSpec;
  /** Nanoseconds, with one file: for rates. */
  cpuUsage(read: ReadFile): number | undefined;
}
