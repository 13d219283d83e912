/** What the kernel says of this process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface OwnProcess {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly virtualBytes: number;
  /** Infinity: no limit. */
  readonly virtualLimitBytes: number;
  readonly openFiles: number;
  readonly openFilesLimit: number;
  /** Since 1970. */
  readonly startedAtSeconds: number;
  /** The machine, since 1970. */
  readonly bootedAtSeconds: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** Linux counts processor time in hundredths for programs, whatever the kernel's own clock does. */
const TICKS = 100;
const PAGE_BYTES = 4096;

export function readOwnProcess(proc = '/proc'): OwnProcess {
  const read = (path: string) => readFileSync(join(proc, path), 'utf8');
  // The name of the program is in parentheses and may hold anything: what counts comes after the last one.
  const stat = read('self/stat');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const field = (number: number) => fields[number - 3] ?? 0;
  const limits = read('self/limits');
  const bootedAtSeconds = Number(/^btime (\d+)$/m.exec(read('stat'))?.[1] ?? 0);
  const network = netCounters(read('self/net/netstat'));
  return {
    cpuSeconds: (field(14) + field(15)) / TICKS,
    residentBytes: field(24) * PAGE_BYTES,
    virtualBytes: field(23),
    virtualLimitBytes: limitOf(limits, 'Max address space'),
    openFiles: readdirSync(join(proc, 'self/fd')).length,
    openFilesLimit: limitOf(limits, 'Max open files'),
    startedAtSeconds: bootedAtSeconds + field(22) / TICKS,
    bootedAtSeconds,
    receivedBytes: network.get('InOctets') ?? 0,
    sentBytes: network.get('OutOctets') ?? 0,
  };
}

function limitOf(limits: string, name: string): number {
  const soft = limits
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .split(/\s+/)[0];
  return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** A line of names and a line of numbers, both after `IpExt:`. */
function netCounters(netstat: string): ReadonlyMap<string, number> {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' ').slice(1));
  return new Map(names.map((name, at) => [name, Number(values[at])]));
}
