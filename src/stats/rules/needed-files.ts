/** Which files of a cgroup a consumer needs: each costs some microseconds, and a node with a hundred pods has three hundred cgroups. */
import type { ReadFile } from './sample.ts';

/** `basic`: CPU and memory. `processes`: how many there are, too. `metrics`: disks and network too. `rates`: what the summary shows. `all`: also what each process has open. */
export type Depth = 'basic' | 'processes' | 'metrics' | 'rates' | 'all';

/** By generation, since they have files of the same name. Limits are not among them: they are read seldom, and then all. */
interface Files {
  readonly first: ReadonlySet<string>;
  readonly second: ReadonlySet<string>;
}

const FIRST_BASIC = ['cpuacct.usage', 'memory.stat', 'memory.usage_in_bytes'];
const SECOND_BASIC = ['cpu.stat', 'memory.current', 'memory.stat', 'memory.swap.current'];

const BASIC: Files = { first: new Set(FIRST_BASIC), second: new Set(SECOND_BASIC) };
const SUMMARY: Files = {
  first: new Set([...FIRST_BASIC, 'cgroup.clone_children', 'cgroup.procs']),
  second: new Set([...SECOND_BASIC, 'cgroup.procs', 'cpu.pressure', 'io.pressure', 'io.stat', 'memory.pressure']),
};

const NEEDED: Readonly<Record<Depth, Files | undefined>> = {
  basic: BASIC,
  processes: {
    first: new Set([...FIRST_BASIC, 'cgroup.procs']),
    second: new Set([...SECOND_BASIC, 'cgroup.procs']),
  },
  rates: SUMMARY,
  metrics: undefined,
  all: undefined,
};

/** The second generation has no controllers. */
const isAmong = ({ first, second }: Files, controller: string, file: string): boolean =>
  (controller === '' ? second : first).has(file);

/** Every other file is as if it were not there. */
export function onlyNeeded(depth: Depth, read: ReadFile): ReadFile {
  const needed = NEEDED[depth];
  if (needed === undefined) return read;
  return (controller, file) => (isAmong(needed, controller, file) ? read(controller, file) : undefined);
}

/** What several pages need: it is worth its open descriptor. */
export const isOftenRead = (controller: string, file: string): boolean => isAmong(SUMMARY, controller, file);
