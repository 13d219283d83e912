/** Cgroups of the first generation: one hierarchy for each controller. */
import { chosenNumbers, NO_PRESSURE, parseNamed, parseNumber } from './kernel-text.ts';
import {
  type CgroupReader,
  type CgroupSpec,
  type CpuSample,
  type DiskCounters,
  type MemorySample,
  type ReadFile,
  tasksOf,
  workingSetOf,
} from './sample.ts';

/** `cpuacct.stat` counts in hundredths of a second, whatever the kernel's own clock does. */
const TICK_NS = 10_000_000;
/** The kernel's word for no limit is the largest number of whole pages that it can write. */
const LARGEST_LIMIT = 2 ** 62;

export const cgroupV1: CgroupReader = {
  cpu: readCpu,
  memory: readMemory,
  io: (read) => {
    // Every cgroup has this file, and of all that tell whether it is there it is the cheapest to read.
    if (read('blkio', 'cgroup.clone_children') === undefined) return undefined;
    return {
      bytes: firstWithDisks(read, 'io_service_bytes'),
      serviced: firstWithDisks(read, 'io_serviced'),
      pressure: NO_PRESSURE,
    };
  },
  tasks: (read) => parseNumber(read('pids', 'pids.current')),
  spec: readSpec,
  cpuUsage: (read) => parseNumber(read('cpuacct', 'cpuacct.usage')),
};

const NO_NUMBERS: ReadonlyMap<string, number> = new Map();

function readCpu(read: ReadFile, spec: CgroupSpec): CpuSample | undefined {
  const usage = parseNumber(read('cpuacct', 'cpuacct.usage'));
  if (usage === undefined) return undefined;
  const ticks = parseNamed(read('cpuacct', 'cpuacct.stat'));
  // Without a quota nothing is throttled, and nothing of it is shown.
  const cfs = spec.cpu?.quota === undefined ? NO_NUMBERS : parseNamed(read('cpu', 'cpu.stat'));
  return {
    usage,
    user: (ticks.get('user') ?? 0) * TICK_NS,
    system: (ticks.get('system') ?? 0) * TICK_NS,
    periods: cfs.get('nr_periods') ?? 0,
    throttledPeriods: cfs.get('nr_throttled') ?? 0,
    throttled: cfs.get('throttled_time') ?? 0,
    burstPeriods: cfs.get('nr_bursts') ?? 0,
    burst: cfs.get('burst_time') ?? 0,
    pressure: NO_PRESSURE,
  };
}

/** `total_`: with all cgroups below it. The root of some kernels has no such lines. */
const memoryNumbers = chosenNumbers([
  ...(['cache', 'rss', 'swap', 'mapped_file', 'active_file', 'inactive_file'] as const),
  ...(['total_cache', 'total_rss', 'total_swap', 'total_mapped_file'] as const),
  ...(['total_active_file', 'total_inactive_file', 'pgfault', 'pgmajfault'] as const),
]);

function readMemory(read: ReadFile, spec: CgroupSpec): MemorySample | undefined {
  const number = (file: string) => parseNumber(read('memory', file)) ?? 0;
  const usage = parseNumber(read('memory', 'memory.usage_in_bytes'));
  if (usage === undefined) return undefined;
  const stat = memoryNumbers(read('memory', 'memory.stat') ?? '');
  const inactiveFile = stat.total_inactive_file ?? stat.inactive_file ?? 0;
  return {
    usage,
    peak: number('memory.max_usage_in_bytes'),
    // What has no limit does not reach it.
    failures: Number.isFinite(spec.memory?.limit) ? number('memory.failcnt') : 0,
    kernel: number('memory.kmem.usage_in_bytes'),
    cache: stat.total_cache ?? stat.cache ?? 0,
    rss: stat.total_rss ?? stat.rss ?? 0,
    swap: stat.total_swap ?? stat.swap ?? 0,
    mappedFile: stat.total_mapped_file ?? stat.mapped_file ?? 0,
    activeFile: stat.total_active_file ?? stat.active_file ?? 0,
    inactiveFile,
    workingSet: workingSetOf(usage, inactiveFile),
    // Of this cgroup alone, not of those below it: so does the reference count.
    pageFaults: stat.pgfault ?? 0,
    majorPageFaults: stat.pgmajfault ?? 0,
    oomKills: killNumbers(read('memory', 'memory.oom_control') ?? '').oom_kill ?? 0,
    pressure: NO_PRESSURE,
  };
}

const killNumbers = chosenNumbers(['oom_kill']);

/** The BFQ scheduler counts on its own where it is in use; what passes the block layer is counted in any case. */
const DISK_FILES = ['blkio.bfq.NAME_recursive', 'blkio.throttle.NAME_recursive', 'blkio.throttle.NAME'] as const;

function firstWithDisks(read: ReadFile, name: string): readonly DiskCounters[] {
  for (const file of DISK_FILES) {
    const found = parseDisks(read('blkio', file.replace('NAME', name)));
    if (found.length > 0) return found;
  }
  return [];
}

const DISK_LINE = /^(\d+):(\d+) (\w+) (\d+)$/gm;

/** Lines such as `8:0 Read 4096`, and a last one with the total of all disks. */
export function parseDisks(text: string | undefined): readonly DiskCounters[] {
  const disks = new Map<string, { major: number; minor: number; operations: Record<string, number> }>();
  for (const [, major = '', minor = '', operation = '', value] of (text ?? '').matchAll(DISK_LINE)) {
    const key = `${major}:${minor}`;
    const disk = disks.get(key) ?? { major: Number(major), minor: Number(minor), operations: {} };
    disk.operations[operation] = Number(value);
    disks.set(key, disk);
  }
  return [...disks.values()];
}

function readSpec(read: ReadFile): CgroupSpec {
  const shares = parseNumber(read('cpu', 'cpu.shares'));
  const limit = parseNumber(read('memory', 'memory.limit_in_bytes'));
  const bytes = (value = 0) => (value > LARGEST_LIMIT ? Number.POSITIVE_INFINITY : value);
  const bytesIn = (file: string) => bytes(parseNumber(read('memory', file)));
  return {
    cpu:
      shares === undefined
        ? undefined
        : {
            shares,
            period: parseNumber(read('cpu', 'cpu.cfs_period_us')) ?? 0,
            // -1, which is no number here: no quota
            quota: parseNumber(read('cpu', 'cpu.cfs_quota_us')),
          },
    memory:
      limit === undefined
        ? undefined
        : {
            limit: bytes(limit),
            swapLimit: bytesIn('memory.memsw.limit_in_bytes'),
            reservation: bytesIn('memory.soft_limit_in_bytes'),
          },
    tasks: tasksOf(parseNumber(read('pids', 'pids.max'))),
  };
}
