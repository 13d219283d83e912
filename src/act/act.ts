/**
 * The front door of the actions: carries out what a plan says, in its order, one file for each kind of action. What came of it
 * is a value; only an interruption (the pod must go, the kubelet stops, the runtime is away) is thrown.
 */

import type { ContainerId, PodUid, SandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import { assertNever } from '../base/assert-never.ts';
import { describeError } from '../base/errors.ts';
import type { MountedVolumes } from '../model/mounted-volume.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import { containerGrace } from '../plan/grace.ts';
import { roleOf } from '../plan/roles.ts';
import { claimsProblem } from './claims.ts';
import { type ContainerStartDeps, type StartOutcome, startContainer } from './container-start.ts';
import { cleanUpPod } from './pod-clean-up.ts';
import type { CgroupsPort, RuntimePort, Turn, VolumesPort } from './ports.ts';
import { createSandbox } from './sandbox-create.ts';
import { createStops, type Stops } from './stops.ts';

export interface ActDeps extends ContainerStartDeps {
  readonly runtime: RuntimePort;
  readonly cgroups: CgroupsPort;
  readonly volumes: VolumesPort;
  readonly sandboxIps: (id: SandboxId, signal: AbortSignal) => Promise<readonly string[]>;
}

export interface ActContext {
  readonly pod: Pod;
  readonly observation: Observation;
  readonly stops: Stops;
  readonly turn: Turn;
  /** Containers that must not be tried again yet. */
  readonly isHeldBack: (container: string) => boolean;
  /** Aborts when the pod must go. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
}

/** What an action came to; an action that went well and has nothing to tell leaves none. */
export type Outcome =
  | { readonly kind: 'start'; readonly name: string; readonly outcome: StartOutcome }
  /** The pod as a whole can't go on: no sandbox, no volumes. */
  | { readonly kind: 'blocked'; readonly message: string };

export interface Act {
  carryOut(actions: readonly Action[], context: ActContext): Promise<readonly Outcome[]>;
  /** The stops of one pod: kept by its worker for as long as it lives. */
  createStops(): Stops;
  /** Takes away all that the node has of a pod nothing of which runs. Fails where something can't be removed. */
  cleanUp(pod: PodIdentity, signal: AbortSignal): Promise<void>;
  /** Lets go of what only a running pod needs. */
  release(pod: PodIdentity, signal: AbortSignal): Promise<void>;
}

type Start = Extract<Action, { kind: 'container-start' }>;
type Stop = Extract<Action, { kind: 'container-stop' }>;

export function createAct(deps: ActDeps): Act {
  const carryOut = async (actions: readonly Action[], context: ActContext): Promise<readonly Outcome[]> => {
    const run = createRun(deps, context);
    const outcomes: Outcome[] = [];
    try {
      for (const step of inSteps(actions)) {
        const done = await run(step);
        outcomes.push(...done.outcomes);
        if (done.hold) break;
      }
      return outcomes;
    } finally {
      context.turn.release();
    }
  };
  return {
    carryOut,
    createStops: () => createStops(deps),
    cleanUp: (pod, signal) => cleanUpPod(deps, pod, signal),
    release: async (pod, signal) => {
      await deps.volumes.cleanUp(pod.uid, signal);
      await deps.cgroups.remove(pod.uid);
    },
  };
}

/** Stops that stand next to each other are one step; everything else waits for what stands before it. */
function inSteps(actions: readonly Action[]): readonly (readonly Action[])[] {
  const steps: Action[][] = [];
  for (const action of actions) {
    const last = steps.at(-1);
    if (action.kind === 'container-stop' && last?.[0]?.kind === 'container-stop') last.push(action);
    else steps.push([action]);
  }
  return steps;
}

interface StepResult {
  readonly outcomes: readonly Outcome[];
  /** The rest waits for the next plan. */
  readonly hold: boolean;
}

const WELL: StepResult = { outcomes: [], hold: false };

interface Surroundings {
  readonly sandbox: { readonly id: SandboxId; readonly attempt: number; readonly ips: readonly string[] } | undefined;
  readonly volumes: MountedVolumes | undefined;
}

/** Carries out one step after the other; what one step made (the sandbox, the volumes) is there for the next. */
function createRun(deps: ActDeps, context: ActContext): (step: readonly Action[]) => Promise<StepResult> {
  const { pod, observation, signal, wanted } = context;
  let around: Surroundings = { sandbox: observation.sandboxes.find(({ ready }) => ready), volumes: undefined };

  const prepare = async (): Promise<StepResult> => {
    if (around.volumes !== undefined) return WELL;
    const prepared = await preparePod(deps, pod, wanted);
    if (prepared.kind === 'blocked') return { outcomes: [prepared], hold: true };
    around = { ...around, volumes: prepared.volumes };
    return WELL;
  };

  const makeSandbox = async (attempt: number): Promise<StepResult> => {
    const prepared = await prepare();
    if (prepared.hold) return prepared;
    const made = await createSandbox(deps, { pod, attempt, turn: context.turn, signal });
    if (made.kind === 'failed') return { outcomes: [{ kind: 'blocked', message: made.message }], hold: true };
    const ips = pod.spec.hostNetwork === true ? [] : await deps.sandboxIps(made.id, signal);
    around = { ...around, sandbox: { id: made.id, attempt, ips } };
    return WELL;
  };

  const start = async (action: Start): Promise<StepResult> => {
    const hold = action.role === 'init';
    if (context.isHeldBack(action.name)) return { outcomes: [], hold };
    const prepared = await prepare();
    if (prepared.hold) return prepared;
    const outcome = await startOne(deps, context, around, action);
    if (outcome.kind === 'hook-failed') await stopFailed(context, action, outcome.id, around.sandbox?.ips ?? []);
    return { outcomes: [{ kind: 'start', name: action.name, outcome }], hold: hold && outcome.kind !== 'started' };
  };

  return async (step) => {
    wanted.throwIfAborted();
    const [action] = step;
    if (action === undefined) return WELL;
    switch (action.kind) {
      case 'container-stop':
        context.turn.release();
        await untilDoneOrUnwanted(stopAll(step, context), wanted);
        return WELL;
      case 'container-start':
        return await start(action);
      case 'sandbox-create':
        return await makeSandbox(action.attempt);
      case 'sandbox-stop':
        around = { ...around, sandbox: around.sandbox?.id === action.id ? undefined : around.sandbox };
        await deps.runtime.sandboxes.stop(action.id, signal);
        return WELL;
      case 'container-remove':
        await removeContainer(deps, context, action.id);
        return WELL;
      case 'sandbox-remove':
        await deps.runtime.sandboxes.remove(action.id, signal);
        return WELL;
      default:
        return assertNever(action);
    }
  };
}

async function startOne(
  deps: ActDeps,
  context: ActContext,
  { sandbox, volumes }: Surroundings,
  action: Start,
): Promise<StartOutcome> {
  const { pod, turn, wanted, signal } = context;
  const container = allContainers(pod).find(({ name }) => name === action.name);
  if (container === undefined || sandbox === undefined || volumes === undefined) {
    const message = `container ${action.name} can't start: the pod has no such container or no sandbox`;
    return { kind: 'waiting', reason: 'CreateContainerError', message, retryAt: undefined };
  }
  const targetId = targetOf(context, action.name);
  return await startContainer(deps, {
    pod,
    container,
    attempt: action.attempt,
    sandbox,
    volumes,
    targetId,
    turn,
    wanted,
    signal,
  });
}

/** The log first: the container is what is found again if this is cut off. */
async function removeContainer(
  deps: ActDeps,
  { pod, observation, signal }: ActContext,
  id: ContainerId,
): Promise<void> {
  const container = observation.containers.find((one) => one.id === id);
  if (container !== undefined) await deps.logs.removeContainer(pod.metadata, container);
  await deps.runtime.containers.remove(id, signal);
}

/** At once, so that no one takes it for a container that runs. */
async function stopFailed(
  { pod, stops, wanted, signal }: ActContext,
  { name }: Start,
  id: ContainerId,
  podIps: readonly string[],
): Promise<void> {
  const { spec: container } = roleOf(pod, name);
  const reason = 'FailedPostStartHook';
  const graceSeconds = containerGrace(pod, container, reason);
  await untilDoneOrUnwanted(
    stops.ask({ pod, container, id, name, message: reason, graceSeconds, podIps }, [], signal),
    wanted,
  );
}

function targetOf({ pod, observation }: ActContext, name: string): ContainerId | undefined {
  const target = pod.spec.ephemeralContainers?.find((one) => one.name === name)?.targetContainerName;
  return observation.containers.find((one) => one.name === target && one.state === 'running')?.id;
}

type Prepared =
  | { readonly kind: 'ready'; readonly volumes: MountedVolumes }
  | { readonly kind: 'blocked'; readonly message: string };

/** All that must be there before the sandbox: directories, cgroup, volumes. What does not need each other is made at the same time. */
async function preparePod(deps: ActDeps, pod: Pod, wanted: AbortSignal): Promise<Prepared> {
  const blocked = (reason: string, message: string): Prepared => {
    deps.record({ pod: pod.metadata, type: 'Warning', reason, message });
    return { kind: 'blocked', message };
  };
  const claims = claimsProblem(pod);
  if (claims !== undefined) return blocked('FailedPrepareDynamicResources', claims);
  deps.volumes.prefetch(pod, wanted);
  const [directories, cgroup] = await Promise.allSettled([
    deps.directories.ensure(pod.metadata.uid as PodUid),
    deps.cgroups.ensure(pod),
  ]);
  if (directories.status === 'rejected') {
    const message = `error making pod data directories: ${describeError(directories.reason)}`;
    return blocked('FailedToMakePodDataDirectories', message);
  }
  if (cgroup.status === 'rejected') {
    const message = `unable to ensure pod container exists: ${describeError(cgroup.reason)}`;
    return blocked('FailedToCreatePodContainer', message);
  }
  const volumes = await deps.volumes.ensure(pod, wanted);
  return volumes.kind === 'ready'
    ? { kind: 'ready', volumes: volumes.mounts }
    : blocked(volumes.reason, volumes.message);
}

function stopAll(step: readonly Action[], context: ActContext): Promise<unknown> {
  const stops = step.filter((action): action is Stop => action.kind === 'container-stop');
  // Those that others wait for come first, so that they are under way when they are asked for.
  const ordered = stops.toSorted((a, b) => (a.after?.length ?? 0) - (b.after?.length ?? 0));
  return Promise.all(ordered.map((stop) => askStop(stop, context)));
}

function askStop(action: Stop, { pod, observation, stops, signal }: ActContext): Promise<void> {
  const { id, name, message, reason, after = [] } = action;
  const { spec: container } = roleOf(pod, name);
  const graceSeconds = action.graceSeconds ?? containerGrace(pod, container, reason);
  const podIps = observation.sandboxes[0]?.ips ?? [];
  return stops.ask({ pod, container, id, name, message, graceSeconds, podIps }, after, signal);
}

/** A stop goes on by itself when the pod must go: the worker has to be free to shorten its grace. */
function untilDoneOrUnwanted(done: Promise<unknown>, wanted: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(wanted.reason);
    wanted.addEventListener('abort', onAbort, { once: true });
    done.then(() => resolve(), reject).finally(() => wanted.removeEventListener('abort', onAbort));
  });
}
