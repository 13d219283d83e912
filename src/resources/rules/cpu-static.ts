/**
 * The static policy of the CPU manager: which CPUs guaranteed containers have for themselves, and which all others share. A state is never changed:
 * every function answers with the next one.
 */

import type { Container } from '../../api/container.ts';
import { formatCpuSet } from '../../api/cpu-set.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import type { NumaMask } from '../../model/assignment.ts';
import { distributeCpus } from './cpu-distribute.ts';
import { takeCpus } from './cpu-take.ts';
import { type CpuTopology, cpusPerCore, socketsOfNodes, wholeCores } from './cpu-topology.ts';
import { emptyPool, exclusiveCpus, exclusiveCpusOfPod, isManaged, type ManagerGates } from './exclusive-cpus.ts';
import { nodesIn } from './numa-mask.ts';

export type CpuSet = ReadonlySet<number>;

export interface CpuState {
  /** The default set: what no container has for itself. */
  readonly shared: CpuSet;
  /** By UID of the pod and name of the container. */
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;
  /** Of pods that have CPUs as a whole, by UID. */
  readonly pods: ReadonlyMap<string, CpuSet>;
}

export interface CpuOptions {
  readonly fullCores: boolean;
  readonly distributeAcrossNodes: boolean;
  readonly alignBySocket: boolean;
  readonly distributeAcrossCores: boolean;
  readonly strictReservation: boolean;
  readonly alignByCache: boolean;
}

export interface StaticCpus {
  readonly topology: CpuTopology;
  readonly reserved: CpuSet;
  readonly options: CpuOptions;
  readonly gates: ManagerGates;
}

/** Why a container does not get its CPUs. Without a reason of its own it is unexpected. */
export interface Refusal {
  readonly reason?: string;
  readonly message: string;
}

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const emptyCpuState = (shared: CpuSet = new Set()): CpuState => ({
  shared,
  containers: new Map(),
  pods: new Map(),
});

/** The reserved CPUs: those that are named, else as many as are reserved, low ones first. */
export function reserveCpus(
  topology: CpuTopology,
  { named, count }: { readonly named: CpuSet; readonly count: number },
  options: CpuOptions,
): Parsed<CpuSet> {
  const taken = named.size > 0 ? parsed(named) : take({ topology, options }, topology.all, count);
  const reserved = taken.ok ? taken.value : new Set<number>();
  if (reserved.size !== count)
    return unparsable(
      `[cpumanager] unable to reserve the required amount of CPUs (size of ${formatCpuSet([...reserved])} did not equal ${count})`,
    );
  const unknown = [...reserved].find((cpu) => !topology.all.has(cpu));
  if (unknown !== undefined)
    return unparsable(
      `[cpumanager] unable to build the reserved physical CPUs from the reserved set: unknown CPU ID: ${unknown}`,
    );
  return parsed(reserved);
}

/** What a machine without pods shares. */
export function initialShared({ topology, reserved, options }: StaticCpus): CpuSet {
  return options.strictReservation ? topology.all.difference(reserved) : topology.all;
}

export function assignedCpus({ containers }: CpuState, uid: string, container: string): CpuSet | undefined {
  return containers.get(uid)?.get(container);
}

export const availableCpus = ({ reserved }: StaticCpus, { shared }: CpuState): CpuSet => shared.difference(reserved);

export interface CpuRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly affinity: NumaMask | undefined;
  /** What init containers of the same pod have, which run before this one. */
  readonly reusable: CpuSet;
}

export interface CpuAllocation {
  readonly state: CpuState;
  readonly reusable: CpuSet;
}

export function allocateCpus(
  policy: StaticCpus,
  state: CpuState,
  { pod, container, affinity, reusable }: CpuRequest,
): Answer<CpuAllocation> {
  const count = exclusiveCpus(pod, container, policy.gates);
  if (count === 0 || !isManaged(pod, policy.gates)) return { ok: true, value: { state, reusable } };
  const misaligned = smtProblem(policy, state, count);
  if (misaligned !== undefined) return { ok: false, refusal: misaligned };
  const { uid } = pod.metadata;
  const has = assignedCpus(state, uid, container.name);
  const cpus = has === undefined ? place(policy, state, { count, affinity, reusable }) : parsed(has);
  if (!cpus.ok) return { ok: false, refusal: { message: cpus.problem } };
  const next = has === undefined ? assign(withoutShared(state, cpus.value), uid, container.name, cpus.value) : state;
  return { ok: true, value: { state: next, reusable: nextReusable(pod, container, reusable, cpus.value) } };
}

/** CPUs of an init container that ends can be given to the containers after it, those of others can't. */
function nextReusable(pod: Pod, { name }: Container, reusable: CpuSet, cpus: CpuSet): CpuSet {
  const init = pod.spec.initContainers?.find((one) => one.name === name);
  const ends = init !== undefined && init.restartPolicy !== 'Always';
  return ends ? reusable.union(cpus) : reusable.difference(cpus);
}

/** The pod gets CPUs as a whole, which its containers divide: those without a part of their own share the rest. */
export function allocatePodCpus(
  policy: StaticCpus,
  state: CpuState,
  { pod, affinity }: Pick<CpuRequest, 'pod' | 'affinity'>,
): Answer<CpuState> {
  const { uid } = pod.metadata;
  const total = exclusiveCpusOfPod(pod, policy.gates);
  if (total === 0 || state.pods.has(uid)) return { ok: true, value: state };
  const empty = emptyCpuPool(policy, pod);
  if (empty !== undefined) return { ok: false, refusal: { reason: 'EmptyPodSharedPoolError', message: empty } };
  const misaligned = smtProblem(policy, state, total);
  if (misaligned !== undefined) return { ok: false, refusal: misaligned };
  const whole = place(policy, state, { count: total, affinity, reusable: new Set() });
  if (!whole.ok) return { ok: false, refusal: { message: whole.problem } };
  const parts = divide(policy, pod, whole.value);
  if (!parts.ok) return { ok: false, refusal: { message: parts.problem } };
  const without = withoutShared(state, whole.value);
  let next: CpuState = { ...without, pods: new Map([...state.pods, [uid, whole.value]]) };
  for (const [name, cpus] of parts.value) next = assign(next, uid, name, cpus);
  return { ok: true, value: next };
}

export const emptyCpuPool = ({ gates }: StaticCpus, pod: Pod): string | undefined =>
  emptyPool(pod, {
    total: BigInt(exclusiveCpusOfPod(pod, gates)),
    shares: (container) => exclusiveCpus(pod, container, gates) === 0,
    own: (container) => BigInt(exclusiveCpus(pod, container, gates)),
    names: ['cpus', 'cpu', 'cpus'],
  });

function divide(policy: StaticCpus, pod: Pod, whole: CpuSet): Parsed<ReadonlyMap<string, CpuSet>> {
  const parts = new Map<string, CpuSet>();
  const shares: string[] = [];
  let rest = whole;
  for (const container of pod.spec.initContainers ?? []) {
    const count = exclusiveCpus(pod, container, policy.gates);
    const isSidecar = container.restartPolicy === 'Always';
    const own = count === 0 ? parsed(rest) : take(policy, rest, count);
    if (!own.ok) return own;
    if (count === 0 && isSidecar) shares.push(container.name);
    else parts.set(container.name, own.value);
    if (count > 0 && isSidecar) rest = rest.difference(own.value);
  }
  for (const container of pod.spec.containers) {
    const count = exclusiveCpus(pod, container, policy.gates);
    const own = take(policy, rest, count);
    if (!own.ok) return own;
    if (count === 0) shares.push(container.name);
    else parts.set(container.name, own.value);
    rest = rest.difference(own.value);
  }
  for (const name of shares) parts.set(name, rest);
  return parsed(parts);
}

/** The pod has ended: what it had is shared again. */
export function releaseCpus(state: CpuState, uid: string): CpuState {
  const own = state.containers.get(uid);
  const pod = state.pods.get(uid);
  if (own === undefined && pod === undefined) return state;
  const freed = [...(own?.values() ?? []), ...(pod === undefined ? [] : [pod])];
  const without = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([key]) => key !== uid));
  return {
    shared: freed.reduce((all, cpus) => all.union(cpus), state.shared),
    containers: without(state.containers),
    pods: without(state.pods),
  };
}

export function assign(state: CpuState, uid: string, container: string, cpus: CpuSet): CpuState {
  const own = new Map([...(state.containers.get(uid) ?? []), [container, cpus]]);
  return { ...state, containers: new Map([...state.containers, [uid, own]]) };
}

const withoutShared = (state: CpuState, cpus: CpuSet): CpuState => ({
  ...state,
  shared: state.shared.difference(cpus),
});

/** With `full-pcpus-only` no two containers may share a core. */
function smtProblem(
  { topology, reserved, options }: StaticCpus,
  { shared }: CpuState,
  count: number,
): Refusal | undefined {
  if (!options.fullCores) return undefined;
  const perCore = cpusPerCore(topology);
  const refusal = (problem: string) => ({ reason: 'SMTAlignmentError', message: `SMT Alignment Error: ${problem}` });
  if (count % perCore !== 0) return refusal(`requested ${count} cpus not multiple cpus per core = ${perCore}`);
  const free = shared.difference(wholeCores(topology, reserved)).size;
  if (count <= free) return undefined;
  return refusal(
    `not enough free physical CPUs: available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = ${perCore}`,
  );
}

interface Placement {
  readonly count: number;
  readonly affinity: NumaMask | undefined;
  readonly reusable: CpuSet;
}

/** First from where the topology policy says, then from anywhere. */
function place(policy: StaticCpus, state: CpuState, { count, affinity, reusable }: Placement): Parsed<CpuSet> {
  const { topology, reserved, options } = policy;
  // A core that has a reserved thread can't be given whole: where all containers get whole cores, none gets its other threads.
  const kept = options.fullCores ? wholeCores(topology, reserved) : reserved;
  const free = state.shared.difference(kept).union(reusable);
  const near = affinity === undefined ? new Set<number>() : alignedCpus(policy, free, affinity);
  const aligned = take(policy, near, Math.min(count, near.size));
  if (!aligned.ok) return aligned;
  const rest = take(policy, free.difference(aligned.value), count - aligned.value.size);
  return rest.ok ? parsed(aligned.value.union(rest.value)) : rest;
}

function alignedCpus({ topology, options }: StaticCpus, free: CpuSet, affinity: NumaMask): CpuSet {
  const nodes = new Set(nodesIn(affinity));
  const sockets = options.alignBySocket ? socketsOfNodes(topology, [...nodes]) : new Set<number>();
  const isNear = (cpu: number): boolean => {
    const place = topology.cpus.get(cpu);
    if (place === undefined) return false;
    return options.alignBySocket ? sockets.has(place.socket) : nodes.has(place.node);
  };
  return new Set([...free].filter(isNear));
}

function take(
  { topology, options }: Pick<StaticCpus, 'topology' | 'options'>,
  free: CpuSet,
  count: number,
): Parsed<CpuSet> {
  const spreadOverCores = options.distributeAcrossCores;
  if (!options.distributeAcrossNodes)
    return takeCpus(topology, free, count, { spreadOverCores, alignByCache: options.alignByCache });
  const groupSize = options.fullCores ? cpusPerCore(topology) : 1;
  return distributeCpus(topology, free, count, { groupSize, spreadOverCores });
}
