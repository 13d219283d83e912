/** The passes over a pod that must end: first everything is stopped, then, once no source has the pod, removed. */
import type { Act } from '../act/act.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isBeingDeleted } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import { EVICTED } from '../model/pod-view.ts';
import type { ReportStep } from '../model/step.ts';
import { computeRemoval, computeTermination } from '../plan/compute-termination.ts';
import { MINIMUM_GRACE_SECONDS } from '../plan/grace.ts';
import { cleanUpSteps, type PlannedStep, planSteps } from '../plan/steps.ts';
import type { Pass } from './pass.ts';
import type { Progress } from './progress.ts';
import { createRemovalTurn, createSandboxStops } from './removals.ts';
import type { WorkerState } from './rules/worker-state.ts';
import { createStopRequests, isContainerStop } from './stop-requests.ts';
import type { WorkerDeps } from './worker-deps.ts';

type Terminating = Extract<WorkerState, { step: 'terminating' }>;
type Terminated = Extract<WorkerState, { step: 'terminated' }>;

export interface Termination {
  stop(pass: Pass, state: Terminating, read: () => Promise<Observation>): Promise<void>;
  cleanUp(pass: Pass, state: Terminated, read: () => Promise<Observation>): Promise<void>;
}

/** Nothing is started here. */
const NO_TURN = { hold: () => Promise.resolve(), release: () => undefined };

export interface TerminationTools {
  readonly stops: ReturnType<Act['createStops']>;
  readonly progress: Progress;
  readonly log: Logger;
  /** Nothing of the pod was on the node when its worker began. */
  readonly isNew: boolean;
}

/** What the passes over one pod share. */
interface Shared {
  /** How the pod ended is on disk. */
  recorded: boolean;
  /** What was seen when nothing ran any more: nothing is started after it. */
  stopped: Observation | undefined;
  readonly carryOut: (pass: Pass, observation: Observation, actions: readonly Action[]) => Promise<unknown>;
}

export function createTermination(deps: WorkerDeps, tools: TerminationTools): Termination {
  const { stops, progress } = tools;
  const sandboxStops = createSandboxStops(deps.removals);
  const onStep: ReportStep = (report) => {
    progress.report(report);
    sandboxStops.note(report);
  };
  const carryOut: Shared['carryOut'] = ({ pod, signal }, observation, actions) =>
    deps.act.carryOut(actions, {
      ...{ pod, observation, stops, onStep, signal },
      turn: NO_TURN,
      isHeldBack: () => false,
      wanted: signal,
    });
  const shared: Shared = { recorded: false, stopped: undefined, carryOut };
  return { stop: createStop(deps, tools, shared), cleanUp: createCleanUp(deps, tools, shared) };
}

function createStop(deps: WorkerDeps, { progress, log }: TerminationTools, shared: Shared): Termination['stop'] {
  const { clock } = deps;
  const { carryOut } = shared;
  const requests = createStopRequests({ clock, log, carryOut });
  return async (pass, { pod, end, since, graceSeconds, deleted }, read) => {
    // That a pod is being deleted can be read again at the API server.
    if (!shared.recorded && !deleted && !isBeingDeleted(pod)) {
      await deps.endings.write(identityOf(pod), end);
      shared.recorded = true;
    }
    const until = since + graceSeconds * 1000;
    if (requests.needsNoRead(pass, until)) return;
    const observation = await read();
    const { actions, finished } = computeTermination({ pod, observation, now: clock.now() }, { since, graceSeconds });
    progress.plan('terminating', planSteps(pod, actions));
    pass.publish(observation, undefined);
    if (finished) {
      shared.stopped = observation;
      pass.send({ kind: 'stopped' });
      return;
    }
    if (actions.some(isContainerStop)) {
      requests.send(pass, observation, actions, until);
      return;
    }
    if (requests.includeSandboxes()) return;
    await carryOut(pass, observation, actions);
    pass.wake();
  };
}

function createCleanUp(deps: WorkerDeps, tools: TerminationTools, shared: Shared): Termination['cleanUp'] {
  const { clock } = deps;
  const { progress, isNew } = tools;
  const { carryOut } = shared;
  const removal = createRemovalTurn(deps.removals);
  let released = false;

  const release = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    if (released) return;
    await deps.act.release(identityOf(pod), progress.report, signal);
    released = true;
    deps.onUnmounted?.(podUid(pod.metadata.uid));
  };

  /** Its object stays, or a successor goes on with what is left of it. */
  const leaveTraces = async (pass: Pass, { pod, again, end }: Terminated, observation: Observation): Promise<void> => {
    removal.release();
    await release(pod, pass.signal);
    if (again) {
      // How this pod ended does not concern its successor, which is judged by the dead containers.
      await deps.endings.remove(podUid(pod.metadata.uid));
      pass.send({ kind: 'cleaned' });
      return;
    }
    // An evicted pod ended to free what its containers hold. Its status is known without them.
    if (end?.reason === EVICTED || deps.decisions.isShortOfDisk()) {
      const removals = computeRemoval(observation, 'the pod has ended, and the node needs the space');
      await carryOut(pass, observation, removals);
      if (removals.length > 0) pass.wake();
      return;
    }
    const garbage = deps.decisions.garbage(observation, clock.now());
    await carryOut(pass, observation, garbage.actions);
    if (garbage.retryAt !== undefined) pass.lookAgainAt(garbage.retryAt);
  };

  return async (pass, state, read) => {
    const { pod, end, deleted, again } = state;
    if (!shared.recorded && !deleted && end !== undefined) await deps.endings.write(identityOf(pod), end);
    shared.recorded = true;
    // Nothing of it was ever created: with thousands of such pods the runtime must not be asked about each.
    if (end?.rejected && isNew && !deleted) return;
    const observation = shared.stopped ?? (await read());
    shared.stopped = undefined;
    const now = clock.now();
    const late = computeTermination({ pod, observation, now }, { since: now, graceSeconds: MINIMUM_GRACE_SECONDS });
    progress.plan('terminated', plannedCleanUp(state, late.actions, observation));
    pass.publish(observation, undefined);
    if (!late.finished) {
      await carryOut(pass, observation, late.actions);
      pass.wake();
      return;
    }
    if (!deleted || again) return await leaveTraces(pass, state, observation);
    // Its object is deleted before its dead containers are removed, which may have to wait for other pods.
    if (isBeingDeleted(pod)) {
      await release(pod, pass.signal);
      deps.onReleased?.(podUid(pod.metadata.uid));
    }
    const removals = computeRemoval(observation);
    if (removals.length > 0 && !removal.isHeld()) {
      shared.stopped = observation;
      removal.request(pass);
      return;
    }
    await carryOut(pass, observation, removals).finally(removal.release);
    await removePod(deps, progress, pass);
  };
}

/** Nothing of it is left in the runtime. */
async function removePod({ act, endings, observe }: WorkerDeps, { report }: Progress, pass: Pass): Promise<void> {
  const pod = identityOf(pass.pod);
  await act.cleanUp(pod, report, pass.signal);
  await endings.remove(pod.uid);
  observe.forget(pod.uid);
  pass.send({ kind: 'cleaned' });
}

function plannedCleanUp(
  { pod, deleted, again }: Terminated,
  late: readonly Action[],
  observation: Observation,
): readonly PlannedStep[] {
  const isRemoved = deleted && again !== true;
  const actions = [...late, ...(isRemoved ? computeRemoval(observation) : [])];
  return [...planSteps(pod, actions), ...cleanUpSteps(isRemoved ? 'the pod is removed' : 'the pod is over', isRemoved)];
}

function identityOf(pod: Pod): PodIdentity {
  const { uid, name, namespace } = pod.metadata;
  return { uid: podUid(uid), name, namespace };
}
