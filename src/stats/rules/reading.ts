/** One cgroup as it was when it was read. */
import type { InterfaceCounters } from './kernel-text.ts';
import type { CgroupSpec, CpuSample, IoSample, MemorySample, MemorySpec } from './sample.ts';

export interface CgroupReading {
  /** Wall clock, milliseconds. */
  readonly time: number;
  readonly cpu: CpuSample | undefined;
  /** Undefined until there are two readings. */
  readonly nanoCores: number | undefined;
  readonly memory: MemorySample | undefined;
  readonly io: IoSample | undefined;
  readonly spec: CgroupSpec;
  /** Wall clock, milliseconds. */
  readonly createdAt: number;
  /** Processes and threads, with those below it. */
  readonly tasks: number | undefined;
  /** Directly in this cgroup, not below it. */
  readonly processes: number;
  /** Of those processes; 0 where no one asked for them. */
  readonly files: number;
  readonly sockets: number;
  readonly openFilesLimit: number | undefined;
  /** Undefined: it has no network of its own. */
  readonly interfaces: readonly InterfaceCounters[] | undefined;
}

/** Of a cgroup that is gone. */
export const NO_READING: CgroupReading = {
  time: 0,
  cpu: undefined,
  nanoCores: undefined,
  memory: undefined,
  io: undefined,
  spec: { cpu: undefined, memory: undefined, tasks: 0 },
  createdAt: 0,
  tasks: undefined,
  processes: 0,
  files: 0,
  sockets: 0,
  openFilesLimit: undefined,
  interfaces: undefined,
};

/** CPU and memory alone, from cgroups or from the runtime. */
export interface ResourceReading extends Pick<CgroupReading, 'time'> {
  readonly cpu: Pick<CpuSample, 'usage'> | undefined;
  readonly memory: Pick<MemorySample, 'workingSet' | 'swap'> | undefined;
  readonly spec: { readonly memory: Pick<MemorySpec, 'swapLimit'> | undefined };
}

export type Readings = ReadonlyMap<string, CgroupReading>;
