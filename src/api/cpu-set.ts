/** Sets of CPU numbers in the list form of the Linux kernel: `0-3,8,10-11`. */
import { type Parsed, parsed, unparsable } from './parsed.ts';

/** Far above what a kernel can be built for; keeps `0-4000000000` from filling the memory. */
const highestCpu = 65_535;

/** The CPUs of a list, sorted and each one once. The empty text is the empty set. */
export function parseCpuSet(text: string): Parsed<readonly number[]> {
  if (text === '') return parsed([]);
  const cpus = new Set<number>();
  for (const range of text.split(',')) {
    const match = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(range);
    if (match === null) return unparsable(`${JSON.stringify(range)} is neither a CPU number nor a range a-b`);
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first > last) return unparsable(`the range ${JSON.stringify(range)} runs backwards`);
    if (last > highestCpu) return unparsable(`CPU ${last} is above ${highestCpu}`);
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return parsed([...cpus].sort((a, b) => a - b));
}

/** The shortest list form of a set: `[0,1,2,5]` is `0-2,5`. */
export function formatCpuSet(cpus: readonly number[]): string {
  const sorted = [...new Set(cpus)].sort((a, b) => a - b);
  const ranges: { first: number; last: number }[] = [];
  for (const cpu of sorted) {
    const open = ranges.at(-1);
    if (open !== undefined && open.last === cpu - 1) open.last = cpu;
    else ranges.push({ first: cpu, last: cpu });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
