/**
 * Takes a number of CPUs out of those that are free, whole units of the machine before parts of them: sockets and NUMA nodes, caches, cores, then
 * single threads. Of units that would do, the one with the fewest free CPUs is taken, so that large ones stay whole.
 */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { type CpuLevel, type CpuTopology, cpusPerCore, groupCpus } from './cpu-topology.ts';

type CpuSet = ReadonlySet<number>;

export interface TakeOptions {
  /** Threads of different cores before threads of the same. */
  readonly spreadOverCores: boolean;
  /** As few caches as possible. */
  readonly alignByCache: boolean;
}

export function takeCpus(topology: CpuTopology, free: CpuSet, count: number, options: TakeOptions): Parsed<CpuSet> {
  if (count < 1) return parsed(new Set());
  if (count > free.size)
    return unparsable(`not enough cpus available to satisfy request: requested=${count}, available=${free.size}`);
  const taking = createTaking(topology, free, count);
  const steps: (() => void)[] = [
    () => taking.takeWhole(outerLevel(topology)),
    () => taking.takeWhole(innerLevel(topology)),
    ...(options.alignByCache ? [taking.takeCaches] : []),
    ...(options.spreadOverCores ? [] : [() => taking.takeWhole('core')]),
    () => taking.takeSingle(options.spreadOverCores),
  ];
  for (const step of steps) if (taking.missing() > 0) step();
  return parsed(taking.taken());
}

/** Where a socket has several NUMA nodes it is the larger unit, else the node is. */
const outerLevel = ({ sockets, nodes }: CpuTopology): CpuLevel => (sockets >= nodes.length ? 'node' : 'socket');
const innerLevel = ({ sockets, nodes }: CpuTopology): CpuLevel => (sockets >= nodes.length ? 'socket' : 'node');

/** The groups of a level that have free CPUs, in the order in which they are taken. */
export function orderedGroups(topology: CpuTopology, free: CpuSet, level: CpuLevel): readonly number[] {
  const groups = groupCpus(topology, free, level);
  const sorted = (ids: Iterable<number>): readonly number[] => {
    const size = (id: number) => groups.get(id)?.size ?? 0;
    return [...new Set(ids)].toSorted((a, b) => size(a) - size(b) || a - b);
  };
  const above = levelAbove(topology, level);
  if (above === undefined) return sorted(groups.keys());
  const members = groupCpus(topology, free, above);
  const placed = orderedGroups(topology, free, above).flatMap((outer) =>
    sorted([...(members.get(outer) ?? [])].flatMap((cpu) => topology.cpus.get(cpu)?.[level] ?? [])),
  );
  return [...new Set(placed)];
}

function levelAbove(topology: CpuTopology, level: CpuLevel): CpuLevel | undefined {
  if (level === outerLevel(topology)) return undefined;
  if (level === innerLevel(topology)) return outerLevel(topology);
  return level === 'cache' ? 'node' : innerLevel(topology);
}

interface Taking {
  missing(): number;
  taken(): CpuSet;
  takeWhole(level: CpuLevel): void;
  takeCaches(): void;
  takeSingle(spread: boolean): void;
}

function createTaking(topology: CpuTopology, from: CpuSet, count: number): Taking {
  let free = from;
  let taken: CpuSet = new Set();
  const missing = () => count - taken.size;
  const take = (cpus: CpuSet): void => {
    taken = taken.union(cpus);
    free = free.difference(cpus);
  };
  const takeWhole: Taking['takeWhole'] = (level) => {
    const whole = groupCpus(topology, topology.all, level);
    const open = groupCpus(topology, free, level);
    for (const id of orderedGroups(topology, free, level)) {
      const cpus = whole.get(id) ?? new Set();
      if (open.get(id)?.size !== wholeSize(topology, level, cpus.size)) continue;
      // A core or socket with more CPUs than the average of the machine is whole with the average already.
      if (missing() >= cpus.size && cpus.isSubsetOf(free)) take(cpus);
    }
  };
  const takePart = (cache: number): void => {
    const perCore = cpusPerCore(topology);
    const own = [...(groupCpus(topology, free, 'cache').get(cache) ?? [])];
    const cores = [...new Set(own.flatMap((cpu) => topology.cpus.get(cpu)?.core ?? []))].toSorted((a, b) => a - b);
    const wanted = new Set(cores.slice(0, Math.ceil(missing() / perCore)));
    const cpus = [...free].filter((cpu) => wanted.has(topology.cpus.get(cpu)?.core ?? -1)).toSorted((a, b) => a - b);
    const isOdd = missing() % 2 !== 0 && perCore > 1;
    const part = isOdd && cpus.length > missing() ? cpus.slice(0, -1) : cpus;
    if (part.length === missing()) take(new Set(part));
  };
  return {
    missing,
    taken: () => taken,
    takeWhole,
    takeCaches: () => {
      const perCache = Math.floor(topology.all.size / Math.max(1, topology.caches));
      for (const cache of orderedGroups(topology, free, 'cache')) {
        if (missing() >= perCache) takeWhole('cache');
        if (missing() > 0) takePart(cache);
        if (missing() === 0) return;
      }
    },
    takeSingle: (spread) => {
      const level = spread ? 'socket' : 'core';
      const groups = groupCpus(topology, free, level);
      const cpus = orderedGroups(topology, free, level).flatMap((id) =>
        [...(groups.get(id) ?? [])].toSorted((a, b) => a - b),
      );
      take(new Set(cpus.slice(0, missing())));
    },
  };
}

/** So many free CPUs make a group whole. Sockets and cores are compared with the average of the machine, as everywhere in Kubernetes. */
function wholeSize(topology: CpuTopology, level: CpuLevel, size: number): number {
  if (level === 'core') return cpusPerCore(topology);
  return level === 'socket' ? Math.floor(topology.all.size / topology.sockets) : size;
}
