/** Carries out the actions of one pass, one after the other; what one made (the sandbox, the volumes) is there for the next. */
import type { ContainerId, SandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import { assertNever } from '../base/assert-never.ts';
import { describeError } from '../base/errors.ts';
import type { MountedVolumes } from '../model/mounted-volume.ts';
import type { Observation } from '../model/observation.ts';
import type { Outcome, StartOutcome } from '../model/outcome.ts';
import type { Action } from '../model/plan.ts';
import type { ReportStep, StepSubject } from '../model/step.ts';
import { containerGrace } from '../plan/grace.ts';
import { roleOf } from '../plan/roles.ts';
import { type ContainerStartDeps, startContainer } from './container-start.ts';
import { type PodPrepareDeps, preparePod } from './pod-prepare.ts';
import { type PodResizeDeps, resizePod } from './pod-resize.ts';
import type { LogsPort, RuntimePort, Turn } from './ports.ts';
import { createSandbox, type SandboxCreateDeps } from './sandbox-create.ts';
import type { Stops } from './stops.ts';

export interface RunActionDeps extends ContainerStartDeps, SandboxCreateDeps, PodPrepareDeps, PodResizeDeps {
  readonly runtime: RuntimePort;
  readonly directories: ContainerStartDeps['directories'];
  readonly requests: ContainerStartDeps['requests'];
  readonly inForce: PodResizeDeps['inForce'];
  readonly logs: LogsPort;
  readonly sandboxIps: (id: SandboxId, signal: AbortSignal) => Promise<readonly string[]>;
}

export interface RunContext {
  readonly pod: Pod;
  readonly observation: Observation;
  readonly stops: Stops;
  readonly turn: Turn;
  readonly report: ReportStep;
  /** Containers whose start must not be retried yet. */
  readonly isHeldBack: (container: string) => boolean;
  /** Aborts when the pod must end. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
}

export interface ActionResult {
  readonly outcomes: readonly Outcome[];
  /** The rest waits for the next plan. */
  readonly hold: boolean;
}

const SUCCESS: ActionResult = { outcomes: [], hold: false };

interface Surroundings {
  readonly sandbox: { readonly id: SandboxId; readonly attempt: number; readonly ips: readonly string[] } | undefined;
  readonly volumes: MountedVolumes | undefined;
}

type Start = Extract<Action, { kind: 'container-start' }>;
type Stop = Extract<Action, { kind: 'container-stop' }>;

/** Actions that are given together are carried out side by side: only container stops are. */
export type RunActions = (actions: readonly Action[]) => Promise<ActionResult>;

export function createRun(deps: RunActionDeps, context: RunContext): RunActions {
  const { pod, observation, signal, wanted, report } = context;
  let around: Surroundings = { sandbox: observation.sandboxes.find(({ ready }) => ready), volumes: undefined };

  const prepare = async (): Promise<ActionResult> => {
    if (around.volumes !== undefined) return SUCCESS;
    const prepared = await preparePod(deps, { pod, report, wanted });
    if (prepared.kind === 'blocked') return { outcomes: [prepared], hold: true };
    around = { ...around, volumes: prepared.volumes };
    return SUCCESS;
  };

  const makeSandbox = async (attempt: number): Promise<ActionResult> => {
    const prepared = await prepare();
    if (prepared.hold) return prepared;
    const made = await createSandbox(deps, { pod, attempt, turn: context.turn, report, signal });
    if (made.kind === 'failed') {
      const subject = { kind: 'sandbox-create', attempt } as const;
      return { outcomes: [{ kind: 'blocked', subject, message: made.message }], hold: true };
    }
    const ips = pod.spec.hostNetwork === true ? [] : await deps.sandboxIps(made.id, signal);
    around = { ...around, sandbox: { id: made.id, attempt, ips } };
    return SUCCESS;
  };

  const start = async (action: Start): Promise<ActionResult> => {
    const hold = action.role === 'init';
    if (context.isHeldBack(action.name)) return { outcomes: [], hold };
    const prepared = await prepare();
    if (prepared.hold) return prepared;
    const outcome = await startOne(deps, context, around, action);
    if (outcome.kind === 'hook-failed') await stopFailed(context, action, outcome.id, around.sandbox?.ips ?? []);
    return { outcomes: [{ kind: 'start', name: action.name, outcome }], hold: hold && outcome.kind !== 'started' };
  };

  return async (actions) => {
    wanted.throwIfAborted();
    const [action] = actions;
    if (action === undefined) return SUCCESS;
    switch (action.kind) {
      case 'container-stop':
        context.turn.release();
        await untilDoneOrUnwanted(stopAll(actions, context), wanted);
        return SUCCESS;
      case 'container-start':
        return await start(action);
      case 'sandbox-create':
        return await makeSandbox(action.attempt);
      case 'pod-resize': {
        const sandboxId = around.sandbox?.id;
        return { outcomes: [await resizePod(deps, { pod, action, sandboxId, report, signal })], hold: false };
      }
      case 'sandbox-stop':
        around = { ...around, sandbox: around.sandbox?.id === action.id ? undefined : around.sandbox };
        await reportCall(context, action, () => deps.runtime.sandboxes.stop(action.id, signal));
        return SUCCESS;
      case 'container-remove':
        await reportCall(context, action, () => removeContainer(deps, context, action.id));
        return SUCCESS;
      case 'sandbox-remove':
        await reportCall(context, action, () => deps.runtime.sandboxes.remove(action.id, signal));
        return SUCCESS;
      default:
        return assertNever(action);
    }
  };
}

type Removal = Extract<Action, { kind: 'sandbox-stop' | 'sandbox-remove' | 'container-remove' }>;

/** A call that ends something. Where it fails, the pass ends, and the next one tries again. */
async function reportCall({ report, signal }: RunContext, action: Removal, call: () => Promise<void>): Promise<void> {
  const subject: StepSubject =
    action.kind === 'container-remove'
      ? { kind: action.kind, container: action.name, id: action.id }
      : { kind: action.kind, id: action.id };
  report({ kind: 'begun', subject });
  try {
    await call();
  } catch (error) {
    const failure = { reason: 'FailedKillPod', message: describeError(error) };
    if (!signal.aborted) report({ kind: 'failed', subject, failure });
    throw error;
  }
  report({ kind: 'done', subject });
}

async function startOne(
  deps: RunActionDeps,
  context: RunContext,
  { sandbox, volumes }: Surroundings,
  action: Start,
): Promise<StartOutcome> {
  const { pod, turn, wanted, signal, report } = context;
  const { attempt } = action;
  const container = allContainers(pod).find(({ name }) => name === action.name);
  if (container === undefined || sandbox === undefined || volumes === undefined) {
    const message = `container ${action.name} can't start: the pod has no such container or no sandbox`;
    return { kind: 'waiting', reason: 'CreateContainerError', message, retryAt: undefined };
  }
  const targetId = targetOf(context, action.name);
  const surroundings = { sandbox, volumes, targetId, turn, report, wanted, signal };
  return await startContainer(deps, { pod, container, attempt, ...surroundings });
}

/** The log first: the container is what is found again if this is interrupted. */
async function removeContainer(
  { runtime, logs }: Pick<RunActionDeps, 'runtime' | 'logs'>,
  { pod, observation, signal }: RunContext,
  id: ContainerId,
): Promise<void> {
  const container = observation.containers.find((one) => one.id === id);
  if (container !== undefined) await logs.removeContainer(pod.metadata, container);
  await runtime.containers.remove(id, signal);
}

/** At once, so that no one takes it for a container that runs. */
async function stopFailed(
  { pod, stops, wanted, signal }: RunContext,
  { name }: Start,
  id: ContainerId,
  podIps: readonly string[],
): Promise<void> {
  const { spec: container } = roleOf(pod, name);
  const reason = 'FailedPostStartHook';
  const graceSeconds = containerGrace(pod, container, reason);
  const request = { pod, container, id, name, message: reason, graceSeconds, podIps };
  await untilDoneOrUnwanted(stops.request(request, [], signal), wanted);
}

function targetOf({ pod, observation }: RunContext, name: string): ContainerId | undefined {
  const target = pod.spec.ephemeralContainers?.find((one) => one.name === name)?.targetContainerName;
  return observation.containers.find((one) => one.name === target && one.state === 'running')?.id;
}

function stopAll(actions: readonly Action[], context: RunContext): Promise<unknown> {
  const stops = actions.filter((action): action is Stop => action.kind === 'container-stop');
  // Those that others wait for come first, so that they are under way when the others look for them.
  const ordered = stops.toSorted((a, b) => (a.after?.length ?? 0) - (b.after?.length ?? 0));
  return Promise.all(ordered.map((stop) => requestStop(stop, context)));
}

function requestStop(action: Stop, { pod, observation, stops, signal }: RunContext): Promise<void> {
  const { id, name, message, reason, after = [] } = action;
  const { spec: container } = roleOf(pod, name);
  const graceSeconds = action.graceSeconds ?? containerGrace(pod, container, reason);
  const podIps = observation.sandboxes[0]?.ips ?? [];
  return stops.request({ pod, container, id, name, message, graceSeconds, podIps }, after, signal);
}

/** A stop goes on by itself when the pod must end: the worker has to be free to shorten its grace. */
function untilDoneOrUnwanted(done: Promise<unknown>, wanted: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(wanted.reason);
    wanted.addEventListener('abort', onAbort, { once: true });
    done.then(() => resolve(), reject).finally(() => wanted.removeEventListener('abort', onAbort));
  });
}
