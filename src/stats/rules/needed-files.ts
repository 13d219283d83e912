/** Which files of a cgroup a consumer needs: each costs some microseconds, and a node with a hundred pods has three hundred cgroups. */
import type { ReadFile } from './sample.ts';

/** `basic`: CPU and memory. `processes`: how many there are, too. `metrics`: disks and network too. `rates`: what the summary shows. `all`: also what each process has open. */
export type Depth = 'basic' | 'processes' | 'metrics' | 'rates' | 'all';

/** `controller/file`; the second generation has no controllers. Limits are not among them: they are read seldom, and then all. */
const BASIC: readonly string[] = [
  'cpuacct/cpuacct.usage',
  'memory/memory.stat',
  'memory/memory.usage_in_bytes',
  ...['cpu.stat', 'memory.current', 'memory.stat', 'memory.swap.current'].map((file) => `/${file}`),
];

const SUMMARY: readonly string[] = [
  ...BASIC,
  'blkio/cgroup.clone_children',
  'cpu/cgroup.procs',
  ...['cpu.pressure', 'io.pressure', 'io.stat', 'memory.pressure'].map((file) => `/${file}`),
];

const OFTEN_READ: ReadonlySet<string> = new Set([...SUMMARY, '/cgroup.procs']);

const NEEDED: Readonly<Record<Depth, ReadonlySet<string> | undefined>> = {
  basic: new Set(BASIC),
  processes: new Set([...BASIC, 'cpu/cgroup.procs']),
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

/** What several pages need: it is worth its open descriptor. */
export const isOftenRead = (controller: string, file: string): boolean => OFTEN_READ.has(`${controller}/${file}`);
