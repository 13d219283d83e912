/** The CPU, memory and topology managers as one part: their state files are read before any pod is assigned something. */
import type { Container } from '../api/container.ts';
import { parseCpuSet } from '../api/cpu-set.ts';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { Machine } from '../model/machine.ts';
import type { PodUpdate } from '../model/pod-view.ts';
import { type CpuReconcileDeps, createCpuReconcile } from './cpu-reconcile.ts';
import { type Cpus, type CpusDeps, createCpus } from './cpus.ts';
import type { AssigningTopology } from './deciding.ts';
import { createMemoryManager, type MemoryDeps, type MemoryManager } from './memory.ts';
import type { HintProvider } from './ports.ts';
import { type CpuOptions, type CpuSet, reserveCpus, type StaticCpus } from './rules/cpu-static.ts';
import { cpuTopologyOf } from './rules/cpu-topology.ts';
import { isPodManaged, type ManagerGates } from './rules/exclusive-cpus.ts';
import { numaProblem, topologyProblem } from './rules/manager-options.ts';
import { type MemoryBlock, type ReservedMemory, unusedMemory } from './rules/memory-nodes.ts';
import type { TopologyPolicy } from './rules/topology-merge.ts';
import { createStateFile } from './state-file.ts';

export interface ManagersConfig {
  readonly directory: string;
  readonly gates: ManagerGates;
  readonly cpu: {
    readonly isStatic: boolean;
    readonly options: CpuOptions;
    /** As the configuration names them. */
    readonly reserved: string;
    readonly reservedCount: number;
    readonly reconcilePeriodMs: number;
  };
  readonly memory: { readonly isStatic: boolean; readonly reserved: ReservedMemory };
  readonly topology: {
    readonly policy: TopologyPolicy;
    readonly scope: 'container' | 'pod';
    readonly preferClosest: boolean;
    readonly mostNodes: number;
  };
}

export interface ManagersDeps extends Omit<CpuReconcileDeps, 'cpus'> {
  readonly machine: Pick<Machine, 'memoryNodes'>;
  readonly record: RecordNodeEvent;
  /** The CPUs that containers of guaranteed pods run on now, where they are not all, by UID. */
  readonly findPinned: (all: CpuSet) => Promise<ReadonlyMap<string, CpuSet>>;
  readonly meters: {
    readonly cpus: CpusDeps['meter'];
    readonly memory: MemoryDeps['meter'];
    readonly topology: AssigningTopology['meter'];
  };
}

export interface Managers extends Part {
  readonly providers: readonly HintProvider[];
  readonly topology: AssigningTopology;
  readonly cpus: Cpus;
  readonly memory: MemoryManager;
  follow(update: PodUpdate): void;
}

export function createManagers(deps: ManagersDeps, config: ManagersConfig): Managers {
  const { log, machine, meters } = deps;
  const fileOf = (name: string) => createStateFile(`${config.directory}/${name}`, log);
  const rebuilt = (what: string, file: string) => (problem: string) => {
    const message = `${what} state is rebuilt from the containers that run, since ${file} can't be used: ${problem}`;
    log.warn('The state of an earlier kubelet is not used', { path: `${config.directory}/${file}`, problem });
    deps.record({ node: true, type: 'Warning', reason: 'ManagerStateRebuilt', message });
  };
  const policy = config.cpu.isStatic ? staticCpus(machine, config) : undefined;
  checkTopology(machine, config);
  const cpus = createCpus({
    log,
    file: fileOf('cpu_manager_state'),
    policy,
    podLevelManagers: config.gates.podLevelManagers,
    onRebuild: rebuilt('CPU manager', 'cpu_manager_state'),
    onChange: () => reconcile.wake(),
    meter: meters.cpus,
  });
  const memory = createMemoryManager({
    log,
    file: fileOf('memory_manager_state'),
    unused: config.memory.isStatic
      ? unusedMemory(machine, checkedReserved(machine, config.memory.reserved))
      : undefined,
    gates: config.gates,
    onRebuild: rebuilt('Memory manager', 'memory_manager_state'),
    meter: meters.memory,
  });
  const all = new Set(cpuTopologyOf(machine).all);
  // Without a policy nothing is pinned; but what an earlier policy has pinned is given all CPUs again.
  const wanted: CpuReconcileDeps['cpus'] =
    policy === undefined ? { ...cpus, affinity: () => (cpus.formerPolicy() === 'static' ? all : new Set()) } : cpus;
  const reconcile = createCpuReconcile({ ...deps, cpus: wanted }, config.cpu.reconcilePeriodMs);
  let background: Promise<void> = Promise.resolve();
  return {
    name: 'cpu, memory and topology managers',
    start: async (signal) => {
      await Promise.all([cpus.load(() => deps.findPinned(all)), memory.load()]);
      if (policy !== undefined || cpus.formerPolicy() === 'static') background = reconcile.run(signal);
    },
    stop: () => background,
    providers: [cpus, memory],
    topology: topologyOf(machine, config, meters.topology),
    cpus,
    memory,
    follow: reconcile.wake,
  };
}

/** Whether the time of a container, or of a pod as a whole, is unlimited because its CPUs are its own. */
export function exclusiveCpusCheck(
  { features }: Pick<Config, 'features'>,
  managers: () => Pick<Managers, 'cpus'>,
): (pod: Pod, container?: Container) => boolean {
  if (!features.enabled('DisableCPUQuotaWithExclusiveCPUs')) return () => false;
  return (pod, container) => {
    const { cpus } = managers();
    return container === undefined ? cpus.hasExclusive(pod) : cpus.exclusive(pod.metadata.uid, container.name).size > 0;
  };
}

/** As the pod-resources API shows them. */
export function podResourcesOf({ cpus, memory }: Pick<Managers, 'cpus' | 'memory'>) {
  const sorted = (set: CpuSet) => [...set].toSorted((a, b) => a - b);
  const shown = ({ nodes, type, bytes }: MemoryBlock) => ({
    memoryType: type,
    size: bytes,
    topology: { nodes: nodes.map((id) => ({ id })) },
  });
  return {
    cpus: {
      cpusOf: (uid: string, container: string) => sorted(cpus.exclusive(uid, container)),
      allocatableCpus: () => sorted(cpus.allocatable()),
    },
    memory: {
      memoryOf: (uid: string, container: string) => memory.blocks(uid, container).map(shown),
      allocatableMemory: () => memory.allocatable().map(shown),
    },
  };
}

/** For metrics. */
export function pinnedCpus({ cpus }: Pick<Managers, 'cpus'>): {
  readonly exclusive: number;
  readonly available: number;
} {
  const exclusive = new Set(
    [...cpus.state().containers.values()].flatMap((own) => [...own.values()].flatMap((set) => [...set])),
  );
  return { exclusive: exclusive.size, available: cpus.state().shared.intersection(cpus.allocatable()).size };
}

const refuse = (problem: string): never => {
  throw new CodedError('invalid', problem);
};

function staticCpus(machine: Pick<Machine, 'memoryNodes'>, { cpu, gates, topology }: ManagersConfig): StaticCpus {
  const cpuTopology = cpuTopologyOf(machine);
  const problem = topologyProblem({ policy: topology.policy, options: cpu.options, topology: cpuTopology });
  if (problem !== undefined) refuse(problem);
  const named = parseCpuSet(cpu.reserved);
  const wanted = { named: new Set(named.ok ? named.value : []), count: cpu.reservedCount };
  const reserved = reserveCpus(cpuTopology, wanted, cpu.options);
  if (!reserved.ok) throw new CodedError('invalid', reserved.problem);
  return { topology: cpuTopology, reserved: reserved.value, options: cpu.options, gates };
}

function checkTopology({ memoryNodes }: Pick<Machine, 'memoryNodes'>, { topology, memory }: ManagersConfig): void {
  const problem = numaProblem(memoryNodes, topology.policy === 'none' ? undefined : topology, memory.isStatic);
  if (problem !== undefined) refuse(problem);
}

function checkedReserved({ memoryNodes }: Pick<Machine, 'memoryNodes'>, reserved: ReservedMemory): ReservedMemory {
  const unknown = [...reserved.keys()].find((id) => !memoryNodes.some((node) => node.id === id));
  if (unknown !== undefined)
    refuse(`the reserved memory configuration references a NUMA node ${unknown} that does not exist on this machine`);
  return reserved;
}

function topologyOf(
  { memoryNodes }: Pick<Machine, 'memoryNodes'>,
  { topology, gates }: ManagersConfig,
  meter: AssigningTopology['meter'],
): AssigningTopology {
  return {
    ...topology,
    nodes: memoryNodes.map(({ id }) => id),
    distances: new Map(memoryNodes.map(({ id, distances }) => [id, distances])),
    isPodManaged: (pod: Pod) => isPodManaged(pod, gates),
    meter,
  };
}
