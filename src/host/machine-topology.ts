/** Processors, their caches and the memory nodes, from the files in which the kernel describes them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCpuSet } from '../api/cpu-set.ts';
import type { HugePagePool, MachineCache, MachineCore, MemoryNode } from '../model/machine.ts';

const KIB = 1024;
/** From here on a cache may be shared by several cores. */
const FIRST_SHARED_LEVEL = 3;

/** A machine that says nothing about memory nodes has one for each socket, with no memory of its own. */
export function readMemoryNodes(online: readonly number[], system = '/sys/devices/system'): readonly MemoryNode[] {
  const ids = numbersOf(join(system, 'node'), /^node(\d+)$/);
  if (ids.length > 0) return ids.map((id) => readNode(id, online, system));
  const cores = readCores(online, join(system, 'cpu'));
  const sockets = [...new Set(cores.map(({ socket }) => socket))].toSorted((a, b) => a - b);
  return sockets.map((id) => {
    const own = withCaches(
      cores.filter(({ socket }) => socket === id),
      join(system, 'cpu'),
    );
    return { id, memoryBytes: 0, hugePages: [], ...own, distances: [] };
  });
}

function readNode(id: number, online: readonly number[], system: string): MemoryNode {
  const directory = join(system, 'node', `node${id}`);
  const cpus = new Set(numbersOf(directory, /^cpu(\d+)$/));
  const cores = readCores(
    online.filter((cpu) => cpus.has(cpu)),
    join(system, 'cpu'),
  );
  const total = /MemTotal:\s+(\d+) kB/.exec(textOf(join(directory, 'meminfo')))?.[1];
  return {
    id,
    memoryBytes: Number(total ?? 0) * KIB,
    hugePages: readHugePages(join(directory, 'hugepages')),
    ...withCaches(cores, join(system, 'cpu')),
    distances: textOf(join(directory, 'distance')).split(/\s+/).filter(Boolean).map(Number),
  };
}

/** Where the kernel does not say, each processor is a core of socket 0. */
function readCores(cpus: readonly number[], directory: string): readonly MachineCore[] {
  const cores = new Map<string, MachineCore>();
  for (const cpu of cpus) {
    const topology = join(directory, `cpu${cpu}`, 'topology');
    const socket = numberIn(join(topology, 'physical_package_id')) ?? 0;
    const id = numberIn(join(topology, 'core_id')) ?? cpu;
    const known = cores.get(`${socket}:${id}`) ?? { id, socket, threads: [], caches: [], sharedCaches: [] };
    cores.set(`${socket}:${id}`, { ...known, threads: [...known.threads, cpu] });
  }
  return [...cores.values()];
}

function withCaches(cores: readonly MachineCore[], directory: string): Pick<MemoryNode, 'cores' | 'caches'> {
  const ofNode = new Map<string, MachineCache>();
  const known = cores.map((core) => {
    const found = readCaches(join(directory, `cpu${core.threads[0]}`, 'cache'));
    const isOfNode = (cpus: number) => cpus === cores.length * core.threads.length;
    const [high, low] = [found.filter(isShared), found.filter((one) => !isShared(one))];
    for (const { cpus, ...cache } of high) if (isOfNode(cpus)) ofNode.set(JSON.stringify(cache), cache);
    return {
      ...core,
      caches: low.filter(({ cpus }) => cpus === core.threads.length).map(({ cpus: _, ...cache }) => cache),
      sharedCaches: high.filter(({ cpus }) => !isOfNode(cpus)).map(({ cpus: _, ...cache }) => cache),
    };
  });
  return { cores: known, caches: [...ofNode.values()] };
}

interface FoundCache extends MachineCache {
  /** So many processors share it. */
  readonly cpus: number;
}

const isShared = ({ level }: FoundCache) => level >= FIRST_SHARED_LEVEL;

function readCaches(directory: string): readonly FoundCache[] {
  return numbersOf(directory, /^index(\d+)$/).flatMap((index) => {
    const of = (name: string) => textOf(join(directory, `index${index}`, name));
    const shared = parseCpuSet(of('shared_cpu_list'));
    const kilobytes = /^(\d+)K$/.exec(of('size'))?.[1];
    if (kilobytes === undefined) return [];
    const cache = {
      id: Number(of('id') || 0),
      bytes: Number(kilobytes) * KIB,
      type: of('type'),
      level: Number(of('level')),
    };
    return [{ ...cache, cpus: shared.ok ? shared.value.length : 0 }];
  });
}

export function readHugePages(directory = '/sys/kernel/mm/hugepages'): readonly HugePagePool[] {
  // In the order of the names of their directories, as everywhere in Kubernetes.
  const sizes = numbersOf(directory, /^hugepages-(\d+)kB$/).toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
  return sizes.map((kilobytes) => ({
    pageBytes: kilobytes * KIB,
    pages: numberIn(join(directory, `hugepages-${kilobytes}kB`, 'nr_hugepages')) ?? 0,
  }));
}

/** Sorted. Empty where there is no such directory. */
function numbersOf(directory: string, name: RegExp): readonly number[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names
    .flatMap((one) => name.exec(one)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}

function numberIn(file: string): number | undefined {
  const text = textOf(file);
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Empty where there is no such file. */
const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');
