/** The managers on a machine that a test describes in short form, without files. */
import type { Container } from '../api/container.ts';
import { formatCpuSet, parseCpuSet } from '../api/cpu-set.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import type { Machine } from '../model/machine.ts';
import { TEST_MACHINE } from '../model/machine-testing.ts';
import { type Assigning, createAssigning } from './assigning.ts';
import { type Cpus, createCpus } from './cpus.ts';
import { createMemoryManager, type MemoryManager } from './memory.ts';
import { reserveCpus } from './rules/cpu-static.ts';
import { cpuTopologyOf } from './rules/cpu-topology.ts';
import { isPodManaged } from './rules/exclusive-cpus.ts';
import { cpuOptionsOf, topologyProblem } from './rules/manager-options.ts';
import { unusedMemory } from './rules/memory-nodes.ts';
import type { TopologyPolicy } from './rules/topology-merge.ts';
import type { StateFile } from './state-file.ts';

const MIB = 1024 ** 2;

export interface ShortNode {
  readonly id: number;
  /** MiB. */
  readonly m: number;
  /** Huge pages of 2 MiB. */
  readonly h?: number;
  /** Distances. */
  readonly d: readonly number[];
  /** Cores: SOCKET:CPU,CPU:CACHE */
  readonly c: readonly string[];
}

export interface ShortContainer {
  readonly n: string;
  /** Thousandths of a CPU. */
  readonly c?: number;
  /** MiB of memory and of huge pages. */
  readonly m?: number;
  readonly h?: number;
  /** A sidecar. */
  readonly s?: boolean;
}

export interface ShortPod {
  readonly uid: string;
  readonly i?: readonly ShortContainer[];
  readonly c: readonly ShortContainer[];
  readonly p?: ShortContainer;
  /** Without limits. */
  readonly b?: boolean;
}

/** What the managers say after a step: of the pod that was added, and of the node. */
export interface Pinned {
  readonly reason?: string;
  readonly msg?: string | undefined;
  readonly shared: string;
  readonly cpus?: Readonly<Record<string, string>>;
  readonly mem?: Readonly<Record<string, readonly { n: readonly number[]; t: string; s: number }[]>>;
  readonly free: Readonly<Record<string, number>>;
}

export interface ShortSettings {
  readonly nodes: readonly ShortNode[];
  readonly cpuOptions: Readonly<Record<string, string>>;
  readonly reserved?: string;
  readonly reservedCount: number;
  readonly reservedMiB: Readonly<Record<string, number>>;
  readonly policy: TopologyPolicy;
  readonly scope: 'container' | 'pod';
  readonly options: Readonly<Record<string, string>>;
  readonly podLevel?: boolean;
}

export interface RecordedScenario extends ShortSettings {
  readonly refused?: string;
  readonly steps?: readonly (Pinned & { readonly add?: ShortPod; readonly rm?: string })[];
  readonly cpuFile?: string;
  readonly memoryFile?: string;
}

export interface TestManagers {
  readonly assigning: Assigning;
  readonly cpus: Cpus;
  readonly memory: MemoryManager;
  readonly read: (uid: string | undefined) => Pinned;
}

export function machineOf(nodes: readonly ShortNode[]): Machine {
  const memoryNodes = nodes.map(({ id, m, h = 0, d, c }) => ({
    id,
    memoryBytes: m * MIB,
    hugePages: [{ pageBytes: 2 * MIB, pages: h }],
    distances: d,
    caches: [],
    cores: c.map((text, index) => {
      const [socket = '0', threads = '', cache] = text.split(':');
      const sharedCaches = cache === undefined ? [] : [{ id: Number(cache), bytes: MIB, type: 'Unified', level: 3 }];
      return { id: index, socket: Number(socket), threads: threads.split(',').map(Number), caches: [], sharedCaches };
    }),
  }));
  return { ...TEST_MACHINE, memoryNodes };
}

function containerOf({ n, c = 0, m = 0, h = 0, s = false }: ShortContainer, burstable: boolean): Container {
  const requests = {
    ...(c > 0 ? { cpu: `${c}m` } : {}),
    ...(m > 0 ? { memory: `${m}Mi` } : {}),
    ...(h > 0 ? { 'hugepages-2Mi': `${h}Mi` } : {}),
  };
  const resources = burstable ? { requests } : { requests, limits: requests };
  return { name: n, resources, ...(s ? { restartPolicy: 'Always' as const } : {}) };
}

export function podOf({ uid, i = [], c, p, b = false }: ShortPod): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid, name: uid, namespace: 'default' },
    spec: {
      initContainers: i.map((one) => containerOf(one, b)),
      containers: c.map((one) => containerOf(one, b)),
      ...(p === undefined ? {} : { resources: containerOf({ ...p, n: '' }, false).resources ?? {} }),
    },
  };
}

const noFile: StateFile = { path: '', load: () => Promise.resolve(undefined), save: () => Promise.resolve() };

export function setUpManagers(settings: ShortSettings): Parsed<TestManagers> {
  const machine = machineOf(settings.nodes);
  const topology = cpuTopologyOf(machine);
  const options = cpuOptionsOf(settings.cpuOptions);
  const gates = { podLevel: true, podLevelManagers: settings.podLevel ?? false };
  const problem = topologyProblem({ policy: settings.policy, options, topology });
  if (problem !== undefined) return unparsable(problem);
  const named = parseCpuSet(settings.reserved ?? '');
  const count = settings.reservedCount;
  const reserved = reserveCpus(topology, { named: new Set(named.ok ? named.value : []), count }, options);
  if (!reserved.ok) return reserved;
  const quiet = { log: createSilentLogger(), file: noFile, onRebuild: () => undefined };
  const cpus = createCpus({
    ...quiet,
    policy: { topology, reserved: reserved.value, options, gates },
    podLevelManagers: gates.podLevelManagers,
    onChange: () => undefined,
  });
  const reservedMemory = Object.entries(settings.reservedMiB).map(
    ([id, mib]) => [Number(id), new Map([['memory', mib * MIB]])] as const,
  );
  const memory = createMemoryManager({ ...quiet, unused: unusedMemory(machine, new Map(reservedMemory)), gates });
  const assigning = createAssigning([cpus, memory], {
    policy: settings.policy,
    scope: settings.scope,
    preferClosest: settings.options['prefer-closest-numa-nodes'] === 'true',
    nodes: machine.memoryNodes.map(({ id }) => id),
    distances: new Map(machine.memoryNodes.map(({ id, distances }) => [id, distances])),
    isPodManaged: (pod) => isPodManaged(pod, gates),
  });
  return parsed({ assigning, cpus, memory, read: (uid) => readPinned(cpus, memory, uid) });
}

function readPinned(cpus: Cpus, memory: MemoryManager, uid: string | undefined): Pinned {
  const { shared, containers } = cpus.state();
  const { nodes, containers: blocks } = memory.state();
  const text = (set: ReadonlySet<number>) => formatCpuSet([...set]);
  const free = [...nodes].map(([id, { tables }]) => [id, Math.floor((tables.get('memory')?.free ?? 0) / MIB)]);
  const own = [...(containers.get(uid ?? '') ?? [])].map(([name, set]) => [name, text(set)]);
  const mem = [...(blocks.get(uid ?? '') ?? [])].map(([name, all]) => [
    name,
    all.map(({ nodes: n, type, bytes }) => ({ n, t: type, s: Math.floor(bytes / MIB) })),
  ]);
  return {
    shared: text(shared),
    ...(own.length === 0 ? {} : { cpus: Object.fromEntries(own) }),
    ...(mem.length === 0 ? {} : { mem: Object.fromEntries(mem) }),
    free: Object.fromEntries(free),
  };
}
