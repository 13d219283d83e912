/** Where the processors of the machine are: which share a core, a cache, a socket, a NUMA node. */
import type { Machine } from '../../model/machine.ts';

export interface CpuPlace {
  /** The lowest processor of its core: the kernel's own core numbers repeat in each socket. */
  readonly core: number;
  readonly socket: number;
  readonly node: number;
  /** The last cache that not all cores of the node share; that of the socket where there is none. */
  readonly cache: number;
}

export interface CpuTopology {
  readonly cpus: ReadonlyMap<number, CpuPlace>;
  readonly all: ReadonlySet<number>;
  readonly sockets: number;
  readonly cores: number;
  /** NUMA nodes with processors, sorted. */
  readonly nodes: readonly number[];
  readonly caches: number;
}

export type CpuLevel = keyof CpuPlace;

export function cpuTopologyOf({ memoryNodes }: Pick<Machine, 'memoryNodes'>): CpuTopology {
  const cpus = new Map<number, CpuPlace>();
  let cores = 0;
  for (const { id: node, cores: own } of memoryNodes) {
    for (const { socket, threads, sharedCaches } of own) {
      cores += 1;
      const core = Math.min(...threads);
      const cache = sharedCaches[0]?.id ?? socket;
      for (const cpu of threads) cpus.set(cpu, { core, socket, node, cache });
    }
  }
  const places = [...cpus.values()];
  return {
    cpus,
    all: new Set(cpus.keys()),
    cores,
    sockets: new Set(places.map(({ socket }) => socket)).size,
    nodes: [...new Set(places.map(({ node }) => node))].toSorted((a, b) => a - b),
    caches: new Set(places.map(({ cache }) => cache)).size,
  };
}

export const cpusPerCore = ({ all, cores }: CpuTopology): number => (cores === 0 ? 0 : Math.floor(all.size / cores));

/** The CPUs of `from` by the group that they are in. */
export function groupCpus(
  topology: CpuTopology,
  from: Iterable<number>,
  level: CpuLevel,
): ReadonlyMap<number, ReadonlySet<number>> {
  const groups = new Map<number, Set<number>>();
  for (const cpu of from) {
    const group = topology.cpus.get(cpu)?.[level];
    if (group === undefined) continue;
    const known = groups.get(group);
    if (known === undefined) groups.set(group, new Set([cpu]));
    else known.add(cpu);
  }
  return groups;
}

/** All CPUs of the cores that these are in. */
export function wholeCores(topology: CpuTopology, cpus: Iterable<number>): ReadonlySet<number> {
  const cores = new Set([...cpus].map((cpu) => topology.cpus.get(cpu)?.core));
  return new Set([...topology.cpus].filter(([, { core }]) => cores.has(core)).map(([cpu]) => cpu));
}

export function socketsOfNodes({ cpus }: CpuTopology, nodes: readonly number[]): ReadonlySet<number> {
  const of = new Set(nodes);
  return new Set([...cpus.values()].filter(({ node }) => of.has(node)).map(({ socket }) => socket));
}
