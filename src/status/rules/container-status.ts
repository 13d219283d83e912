/** The status of one container, probes left out. */
import type { Container } from '../../api/container.ts';
import type { ContainerState, ContainerStatus } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { asksToRestartAll, restartsAfterExit } from '../../plan/restart-policy.ts';
import { mountStatuses, observedFacts } from './container-facts.ts';
import {
  containerIdOf,
  forgottenInit,
  lostAtEnd,
  lostWhileRunning,
  RESTARTING_ALL,
  RESTARTING_ALL_MESSAGE,
  removedToRestart,
  terminatedState,
} from './container-state.ts';
import type { StatusInput } from './status-input.ts';

export interface ContainerContext {
  readonly input: StatusInput;
  readonly container: Container;
  /** An init container that has to end, as opposed to a sidecar. */
  readonly plainInit: boolean;
  readonly previous: ContainerStatus | undefined;
  /** Every container of the pod is being removed and will start again. */
  readonly restartingAll: boolean;
  /** Containers that ended only to start again with their new definition. */
  readonly replaced: ReadonlySet<string>;
  /** A regular container is there, so initialization is over. */
  readonly initialized: boolean;
}

export function containerStatus(context: ContainerContext): ContainerStatus {
  const { input, container } = context;
  const [newest, older] = input.observation.containers.filter(({ name }) => name === container.name);
  const status = newest === undefined ? missingStatus(context) : observedStatus(context, newest, older);
  return withWaiting(context, newest, context.replaced.has(container.name) ? replacedStatus(status) : status);
}

/**
 * The API server lets no container leave the terminated state that its restart policy would not start again, so such a one must
 * never be reported as terminated while its successor is on its way.
 */
function replacedStatus(status: ContainerStatus): ContainerStatus {
  return { ...status, state: { waiting: { reason: 'ContainerCreating' } }, lastState: status.state };
}

function observedStatus(
  context: ContainerContext,
  seen: ObservedContainer,
  older: ObservedContainer | undefined,
): ContainerStatus {
  const { input, container, previous } = context;
  const state = observedState(context, seen);
  const restarts = Math.max(seen.restartCount, previous?.restartCount ?? 0);
  const another =
    previous?.state.terminated !== undefined && previous.containerID !== containerIdOf(seen, input.runtimeName);
  const uncounted = state.running !== undefined && another && (previous?.restartCount ?? 0) >= seen.restartCount;
  return {
    name: container.name,
    state,
    lastState: lastState(context, seen, older),
    ready: false,
    restartCount: uncounted ? restarts + 1 : restarts,
    image: seen.image,
    imageID: seen.imageRef,
    containerID: containerIdOf(seen, input.runtimeName),
    ...observedFacts(container, seen, input),
    ...mountStatuses(container, input.recursiveReadOnly),
  };
}

function observedState({ input, previous }: ContainerContext, seen: ObservedContainer): ContainerState {
  switch (seen.state) {
    case 'running':
      return { running: { startedAt: formatTimestamp(seen.startedAt) } };
    case 'exited':
      return { terminated: terminatedState(seen, input.runtimeName) };
    case 'created':
      return { waiting: {} };
    case 'unknown': {
      // It ran, and its state is unknown now: "it failed" is nearer to the truth than "it has not started yet".
      const known = previous?.containerID === containerIdOf(seen, input.runtimeName);
      if (known && previous.state.terminated !== undefined) return previous.state;
      return previous?.state.running === undefined ? { waiting: {} } : lostAtEnd;
    }
  }
}

/** How the container before this one ended. */
function lastState(
  { input, previous }: ContainerContext,
  seen: ObservedContainer,
  older: ObservedContainer | undefined,
): ContainerState {
  if (older?.state === 'exited') return { terminated: terminatedState(older, input.runtimeName) };
  const id = containerIdOf(seen, input.runtimeName);
  if (previous?.state.terminated !== undefined && previous.containerID !== id) return previous.state;
  const last = previous?.lastState.terminated;
  return last === undefined || last.containerID === id ? {} : { terminated: last };
}

/** The runtime has nothing of it: not made yet, or gone. */
function missingStatus(context: ContainerContext): ContainerStatus {
  const { input, container, previous, plainInit, initialized } = context;
  const waiting = { reason: hasInit(input) ? 'PodInitializing' : 'ContainerCreating' };
  const fresh: ContainerStatus = {
    name: container.name,
    state: { waiting },
    lastState: previous?.lastState ?? {},
    ready: false,
    restartCount: previous?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
    ...mountStatuses(container, input.recursiveReadOnly),
  };
  const restarting = previous !== undefined && removedForRestart(context, previous);
  if (restarting) return { ...fresh, ...restartedStatus(previous) };
  if (previous?.state.terminated !== undefined) return previous;
  if (plainInit && initialized) return { ...fresh, state: forgottenInit };
  if (previous?.state.running === undefined || fresh.lastState.terminated !== undefined) return fresh;
  const deleted = input.pod.metadata.deletionTimestamp !== undefined;
  return { ...fresh, lastState: lostWhileRunning, restartCount: fresh.restartCount + (deleted ? 0 : 1) };
}

function hasInit({ pod }: StatusInput): boolean {
  return (pod.spec.initContainers ?? []).length > 0;
}

function removedForRestart({ container, restartingAll }: ContainerContext, previous: ContainerStatus): boolean {
  const { waiting, terminated } = previous.state;
  if (waiting !== undefined) return false;
  return restartingAll || (terminated !== undefined && asksToRestartAll(container, terminated.exitCode));
}

function restartedStatus({ state, restartCount }: ContainerStatus): Partial<ContainerStatus> {
  return {
    state: { waiting: { reason: RESTARTING_ALL, message: RESTARTING_ALL_MESSAGE } },
    lastState: state.terminated === undefined ? removedToRestart : state,
    restartCount: restartCount + 1,
  };
}

/** A container that should run and can't start yet shows why; how it ended before becomes its last state. */
function withWaiting(
  { input, container, plainInit }: ContainerContext,
  newest: ObservedContainer | undefined,
  status: ContainerStatus,
): ContainerStatus {
  const held = input.waiting.get(container.name);
  if (held === undefined || input.step !== 'syncing' || input.pod.metadata.deletionTimestamp !== undefined)
    return status;
  if (newest?.state === 'running') return status;
  if (newest?.state === 'exited') {
    if (plainInit && newest.exitCode === 0) return status;
    if (!restartsAfterExit(input.pod, container, newest.exitCode)) return status;
  }
  const { reason, message } = held;
  return {
    ...status,
    state: { waiting: { reason, ...(message === '' ? {} : { message }) } },
    lastState: status.state.terminated === undefined ? status.lastState : status.state,
  };
}
