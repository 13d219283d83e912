/** Which files of a cgroup a consumer needs: each costs some microseconds, and a node with a hundred pods has three hundred cgroups. */
import type { ReadFile } from './sample.ts';

/** `basic`: CPU and memory. `metrics`: disks and network too. `rates`: what the summary shows. `all`: also what each process has open. */
export type Depth = 'basic' | 'metrics' | 'rates' | 'all';

/** `controller/file`; the second generation has no controllers. */
const BASIC: readonly string[] = [
  'cpuacct/cpuacct.usage',
  'memory/memory.limit_in_bytes',
  'memory/memory.memsw.limit_in_bytes',
  'memory/memory.stat',
  'memory/memory.usage_in_bytes',
  ...['cpu.stat', 'memory.current', 'memory.max', 'memory.stat', 'memory.swap.current', 'memory.swap.max'].map(
    (file) => `/${file}`,
  ),
];

const SUMMARY: readonly string[] = [
  ...BASIC,
  'blkio/cgroup.procs',
  'cpu/cgroup.procs',
  ...['cpu.pressure', 'io.pressure', 'io.stat', 'memory.pressure'].map((file) => `/${file}`),
];

const NEEDED: Readonly<Record<Depth, ReadonlySet<string> | undefined>> = {
  basic: new Set(BASIC),
  rates: new Set(SUMMARY),
  metrics: undefined,
  all: undefined,
};

/** Every other file is as if it were not there. */
export function onlyNeeded(depth: Depth, read: ReadFile): ReadFile {
  const needed = NEEDED[depth];
  if (needed === undefined) return read;
  return (controller, file) => (needed.has(`${controller}/${file}`) ? read(controller, file) : undefined);
}
