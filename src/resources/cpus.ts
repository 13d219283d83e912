/**
 * The CPU manager: gives guaranteed containers whole CPUs of their own, and all others the rest. The decisions are in `rules/cpu-static.ts`; this
 * keeps the state, in memory and in `cpu_manager_state`.
 */
import { formatCpuSet } from '../api/cpu-set.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Logger } from '../base/logger.ts';
import type { Assigned } from '../model/assignment.ts';
import { unexpected } from './assigning.ts';
import type { HintProvider } from './ports.ts';
import { cpuHints, podCpuHints } from './rules/cpu-hints.ts';
import { rebuildCpus, stateProblem } from './rules/cpu-rebuild.ts';
import { decodeCpuState, encodeCpuState } from './rules/cpu-state-file.ts';
import {
  type Answer,
  allocateCpus,
  allocatePodCpus,
  assignedCpus,
  type CpuSet,
  type CpuState,
  emptyCpuState,
  initialShared,
  type Refusal,
  releaseCpus,
  type StaticCpus,
} from './rules/cpu-static.ts';
import { exclusiveCpus, exclusiveCpusOfPod, isManaged } from './rules/exclusive-cpus.ts';
import type { StateFile } from './state-file.ts';

export interface CpuMeter {
  requested(): void;
  failed(): void;
}

export interface CpusDeps {
  readonly log: Logger;
  readonly file: StateFile;
  /** Undefined: the policy none. */
  readonly policy: StaticCpus | undefined;
  readonly podLevelManagers: boolean;
  /** The state of an earlier kubelet can't be used, and why. */
  readonly onRebuild: (problem: string) => void;
  /** The CPUs of containers have changed. */
  readonly onChange: () => void;
  readonly meter?: CpuMeter | undefined;
}

/** The CPUs that a container that runs has, as the kernel says. */
export interface LiveCpus {
  readonly container: string;
  readonly cpus: CpuSet;
}

export interface Cpus extends HintProvider {
  /** Reads what an earlier kubelet wrote. `held`: the CPUs that containers of guaranteed pods run on now, by UID of the pod. */
  load(held: () => Promise<ReadonlyMap<string, CpuSet>>): Promise<void>;
  /** Whether containers of this pod may have CPUs that are not in the state. */
  awaitsAdoption(uid: PodUid): boolean;
  /** What runs of the pod: it keeps the CPUs that it has, where they are what it requests. */
  adopt(pod: Pod, live: readonly LiveCpus[]): void;
  /** What the container may run on; empty where the policy does not say. */
  affinity(uid: string, container: string): CpuSet;
  exclusive(uid: string, container: string): CpuSet;
  hasExclusive(pod: Pod): boolean;
  /** Those that containers can have for themselves. */
  allocatable(): CpuSet;
  state(): CpuState;
  /** The policy that an earlier kubelet had, where it is another one. */
  formerPolicy(): string | undefined;
}

const NONE: CpuSet = new Set();
const DONE: Assigned = { kind: 'done' };

export function createCpus(deps: CpusDeps): Cpus {
  const { policy, onRebuild } = deps;
  const name = policy === undefined ? 'none' : 'static';
  const keeper = createKeeper(deps, name);
  const { state } = keeper;
  let former: string | undefined;
  /** With strict reservation all other CPUs may be given out: those without any run on the reserved ones, not on those of others. */
  const affinity = (uid: string, container: string): CpuSet => {
    const { shared } = state();
    const common = shared.size > 0 || policy === undefined ? shared : policy.reserved;
    return assignedCpus(state(), uid, container) ?? common;
  };
  const exclusive = (uid: string, container: string): CpuSet => assignedCpus(state(), uid, container) ?? NONE;

  return {
    name: 'cpus',
    ...(policy === undefined ? createNoProvider() : createStaticProvider(keeper, policy, deps.meter)),
    complete: async () => {
      await keeper.save();
      return DONE;
    },
    prepare: ({ metadata: { uid } }, container) => {
      if (policy === undefined) return Promise.resolve({});
      const cpus = formatCpuSet([...affinity(uid, container.name)]);
      return Promise.resolve({ cpus, exclusiveCpus: exclusive(uid, container.name).size > 0 });
    },
    release: (uid) => {
      keeper.unhold(uid);
      keeper.change(releaseCpus(state(), uid));
    },
    load: async (findHeld) => {
      const text = await deps.file.load();
      const record = text === undefined ? undefined : decodeCpuState(text);
      const problem = record === undefined ? undefined : problemOf(record, name, policy);
      if (record?.ok === true && record.value.policy !== name) former = record.value.policy;
      if (problem !== undefined) onRebuild(problem);
      const known = problem === undefined && record?.ok === true ? record.value.state : emptyCpuState();
      if (policy !== undefined && !isEmpty(known)) keeper.restore(known);
      // What runs is known to the kernel; whose it is, and whether it may keep it, is known with the pods.
      else if (policy !== undefined) keeper.hold(await findHeld());
      await keeper.save();
    },
    awaitsAdoption: keeper.isHeld,
    adopt: (pod, live) => {
      if (!keeper.isHeld(pod.metadata.uid) || policy === undefined) return;
      keeper.unhold(pod.metadata.uid);
      keeper.change(rebuildCpus(policy, state(), { pod, live }));
    },
    affinity,
    exclusive,
    hasExclusive: ({ metadata }) =>
      [...(state().containers.get(metadata.uid)?.values() ?? [])].some(({ size }) => size > 0),
    allocatable: () => (policy === undefined ? NONE : policy.topology.all.difference(policy.reserved)),
    state,
    formerPolicy: () => former,
  };
}

/** The state, and what is not known of it yet. */
interface Keeper {
  state(): CpuState;
  /** On disk a moment later. */
  change(next: CpuState): void;
  restore(known: CpuState): void;
  save(): Promise<void>;
  hold(held: ReadonlyMap<string, CpuSet>): void;
  unhold(uid: string): void;
  isHeld(uid: string): boolean;
  /** What the pod can get: CPUs on which containers of other pods may run alone are not given out until it is known. */
  forPod(uid: string): CpuState;
  /** The pod has got something of what `forPod` answered. */
  changeForPod(uid: string, next: CpuState): void;
}

function createKeeper({ log, file, policy, podLevelManagers, onChange }: CpusDeps, name: string): Keeper {
  let state = emptyCpuState(policy === undefined ? NONE : initialShared(policy));
  let held: ReadonlyMap<string, CpuSet> = new Map();
  const save = (): Promise<void> => file.save(() => encodeCpuState({ policy: name, state }, podLevelManagers));
  const change = (next: CpuState): void => {
    if (next === state) return;
    state = next;
    onChange();
    save().catch((error: unknown) => log.error('Failed to save checkpoint', { err: error, path: file.path }));
  };
  const heldByOthers = (uid: string): CpuSet =>
    [...held].reduce((all, [other, cpus]) => (other === uid ? all : all.union(cpus)), NONE);
  return {
    state: () => state,
    change,
    restore: (known) => {
      state = known;
    },
    save,
    hold: (found) => {
      held = found;
    },
    unhold: (uid) => {
      if (held.has(uid)) held = new Map([...held].filter(([other]) => other !== uid));
    },
    isHeld: (uid) => held.has(uid),
    forPod: (uid) => (held.size === 0 ? state : { ...state, shared: state.shared.difference(heldByOthers(uid)) }),
    changeForPod: (uid, next) => {
      const lent = state.shared.intersection(heldByOthers(uid));
      change(lent.size === 0 ? next : { ...next, shared: next.shared.union(lent) });
    },
  };
}

type Deciding = Pick<HintProvider, 'concerns' | 'hintsFor' | 'hintsForPod' | 'allocate' | 'allocatePod'>;

const createNoProvider = (): Deciding => ({
  concerns: () => false,
  hintsFor: () => new Map(),
  hintsForPod: () => new Map(),
  allocate: () => Promise.resolve(DONE),
});

function createStaticProvider(keeper: Keeper, policy: StaticCpus, meter: CpuMeter | undefined): Deciding {
  /** The pod that is being assigned, and what its init containers leave to its other containers. */
  let turn: { readonly uid: string; readonly reusable: CpuSet } = { uid: '', reusable: NONE };
  const reusableOf = (uid: string): CpuSet => (turn.uid === uid ? turn.reusable : NONE);
  const settle = <T>(answer: Answer<T>, use: (value: T) => void): Promise<Assigned> => {
    if (answer.ok) use(answer.value);
    else meter?.failed();
    return Promise.resolve(answer.ok ? DONE : refused(answer.refusal));
  };
  return {
    concerns: (pod) => isManaged(pod, policy.gates) && exclusiveCpusOfPod(pod, policy.gates) > 0,
    hintsFor: (pod, container) => {
      const { uid } = pod.metadata;
      return cpuHints(policy, keeper.forPod(uid), { pod, container, reusable: reusableOf(uid) });
    },
    hintsForPod: (pod) => {
      const { uid } = pod.metadata;
      return podCpuHints(policy, keeper.forPod(uid), { pod, reusable: reusableOf(uid) });
    },
    allocate: ({ pod, container, hint }) => {
      const { uid } = pod.metadata;
      if (exclusiveCpus(pod, container, policy.gates) > 0) meter?.requested();
      const request = { pod, container, affinity: hint?.affinity, reusable: reusableOf(uid) };
      return settle(allocateCpus(policy, keeper.forPod(uid), request), ({ state, reusable }) => {
        turn = { uid, reusable };
        keeper.changeForPod(uid, state);
      });
    },
    allocatePod: ({ pod, hint }) => {
      const { uid } = pod.metadata;
      meter?.requested();
      const answer = allocatePodCpus(policy, keeper.forPod(uid), { pod, affinity: hint?.affinity });
      return settle(answer, (next) => keeper.changeForPod(uid, next));
    },
  };
}

const isEmpty = ({ shared, containers }: CpuState): boolean => shared.size === 0 && containers.size === 0;

/** Why the state of an earlier kubelet does not fit this one. */
function problemOf(
  record: ReturnType<typeof decodeCpuState>,
  name: string,
  policy: StaticCpus | undefined,
): string | undefined {
  if (!record.ok) return record.problem;
  const { policy: former, state } = record.value;
  if (former !== name)
    return `configured policy ${JSON.stringify(name)} differs from state checkpoint policy ${JSON.stringify(former)}`;
  return policy === undefined ? undefined : stateProblem(policy, state);
}

export function refused({ reason, message }: Refusal): Assigned {
  return reason === undefined ? unexpected(message) : { kind: 'refused', reason, message };
}
