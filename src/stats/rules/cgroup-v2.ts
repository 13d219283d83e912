/** Cgroups of the second generation: one hierarchy, all files of a cgroup in one directory. */
import { chosenNumbers, parseNamed, parseNumber, parsePressure } from './kernel-text.ts';
import {
  type CgroupReader,
  type CgroupSpec,
  type CpuSample,
  type DiskCounters,
  type IoSample,
  type MemorySample,
  type ReadFile,
  tasksOf,
  workingSetOf,
} from './sample.ts';

const MICROSECOND_NS = 1000;

export const cgroupV2: CgroupReader = {
  cpu: readCpu,
  memory: readMemory,
  io: readIo,
  tasks: (read) => parseNumber(read('', 'pids.current')),
  spec: readSpec,
  cpuUsage: (read) => usageOf(parseNamed(read('', 'cpu.stat'))),
};

function usageOf(stat: ReadonlyMap<string, number>): number | undefined {
  const microseconds = stat.get('usage_usec');
  return microseconds === undefined ? undefined : microseconds * MICROSECOND_NS;
}

function readCpu(read: ReadFile): CpuSample | undefined {
  const stat = parseNamed(read('', 'cpu.stat'));
  const usage = usageOf(stat);
  if (usage === undefined) return undefined;
  const microseconds = (name: string) => (stat.get(name) ?? 0) * MICROSECOND_NS;
  return {
    usage,
    user: microseconds('user_usec'),
    system: microseconds('system_usec'),
    periods: stat.get('nr_periods') ?? 0,
    throttledPeriods: stat.get('nr_throttled') ?? 0,
    throttled: microseconds('throttled_usec'),
    burstPeriods: stat.get('nr_bursts') ?? 0,
    burst: microseconds('burst_usec'),
    pressure: parsePressure(read('', 'cpu.pressure')),
  };
}

const memoryNumbers = chosenNumbers([
  'anon',
  'file',
  'kernel',
  'file_mapped',
  'active_file',
  'inactive_file',
  'pgfault',
  'pgmajfault',
]);

function readMemory(read: ReadFile): MemorySample | undefined {
  const text = read('', 'memory.stat');
  if (text === undefined) return undefined;
  const { anon = 0, file = 0, inactive_file: inactiveFile = 0, ...stat } = memoryNumbers(text);
  // The root has no `memory.current`: all that is charged to processes and to files is used.
  const usage = parseNumber(read('', 'memory.current')) ?? anon + file;
  const events = parseNamed(read('', 'memory.events.local') ?? read('', 'memory.events'));
  return {
    usage,
    peak: finite(parseNumber(read('', 'memory.peak'))),
    // The reference has no such count here and answers 0; the kernel does count.
    failures: events.get('max') ?? 0,
    kernel: stat.kernel ?? 0,
    cache: file,
    rss: anon,
    swap: parseNumber(read('', 'memory.swap.current')) ?? 0,
    mappedFile: stat.file_mapped ?? 0,
    activeFile: stat.active_file ?? 0,
    inactiveFile,
    workingSet: workingSetOf(usage, inactiveFile),
    pageFaults: stat.pgfault ?? 0,
    majorPageFaults: stat.pgmajfault ?? 0,
    oomKills: events.get('oom_kill') ?? 0,
    pressure: parsePressure(read('', 'memory.pressure')),
  };
}

const finite = (value: number | undefined) => (value === undefined || !Number.isFinite(value) ? 0 : value);

const NAMES = {
  bytes: { rbytes: 'Read', wbytes: 'Write' },
  serviced: { rios: 'Read', wios: 'Write' },
} as const;

/** `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`: a line for each disk. */
function readIo(read: ReadFile): IoSample | undefined {
  const text = read('', 'io.stat');
  if (text === undefined) return undefined;
  const lines = [...text.matchAll(/^(\d+):(\d+) (.*)$/gm)];
  const disks = (names: Readonly<Record<string, string>>): readonly DiskCounters[] =>
    lines.flatMap(([, major, minor, rest = '']) => {
      const pairs = rest.split(' ').map((pair) => pair.split('='));
      const operations = pairs.flatMap(([name = '', value]) => {
        const [operation, count] = [names[name], parseNumber(value)];
        return operation === undefined || count === undefined ? [] : [[operation, count] as const];
      });
      if (operations.length === 0) return [];
      return [{ major: Number(major), minor: Number(minor), operations: Object.fromEntries(operations) }];
    });
  return {
    bytes: disks(NAMES.bytes),
    serviced: disks(NAMES.serviced),
    pressure: parsePressure(read('', 'io.pressure')),
  };
}

/** From 1 to 10000 to what the first generation calls shares, 2 to 262144: metrics show those on both. */
const sharesOf = (weight: number) => 2 + Math.floor(((weight - 1) * 262142) / 9999);

function readSpec(read: ReadFile): CgroupSpec {
  // The root has none of these files, and is shown with zeros.
  const weight = parseNumber(read('', 'cpu.weight'));
  const [quota, period] = (read('', 'cpu.max') ?? '').trim().split(' ').map(parseNumber);
  const limit = parseNumber(read('', 'memory.max'));
  return {
    cpu:
      read('', 'cpu.stat') === undefined
        ? undefined
        : {
            shares: weight === undefined ? 0 : sharesOf(weight),
            period: period ?? 0,
            quota: quota === undefined || !Number.isFinite(quota) ? undefined : quota,
          },
    memory:
      limit === undefined
        ? undefined
        : {
            limit,
            swapLimit: parseNumber(read('', 'memory.swap.max')) ?? 0,
            reservation: parseNumber(read('', 'memory.min')) ?? 0,
          },
    tasks: tasksOf(parseNumber(read('', 'pids.max'))),
  };
}
