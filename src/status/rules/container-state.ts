/** State and last state of a container, from the runtime's answer and from the status before. */
import type { ContainerState, ContainerStateTerminated } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { ObservedContainer } from '../../model/observation.ts';

/** The runtime has nothing of the container any more: how it ended is unknown, so it counts as killed. */
const LOST_EXIT_CODE = 137;
export const RESTARTING_ALL = 'RestartingAllContainers';
export const RESTARTING_ALL_MESSAGE = 'The container is removed because RestartAllContainers in place';

export function terminatedState(seen: ObservedContainer, runtimeName: string): ContainerStateTerminated {
  return {
    exitCode: seen.exitCode,
    ...(seen.reason === '' ? {} : { reason: seen.reason }),
    ...(seen.message === '' ? {} : { message: seen.message }),
    startedAt: formatTimestamp(seen.startedAt),
    finishedAt: formatTimestamp(seen.finishedAt),
    containerID: containerIdOf(seen, runtimeName),
  };
}

export function containerIdOf({ id }: ObservedContainer, runtimeName: string): string {
  return `${runtimeName}://${id}`;
}

function lost(reason: string, message: string): ContainerState {
  return { terminated: { exitCode: LOST_EXIT_CODE, reason, message, startedAt: null, finishedAt: null } };
}

/** It was running when last seen and the runtime no longer knows it. */
export const lostWhileRunning = lost(
  'ContainerStatusUnknown',
  'The container could not be located when the pod was deleted.  The container used to be Running',
);

/** The pod has ended and the runtime has nothing of the container, or does not know its state. */
export const lostAtEnd = lost(
  'ContainerStatusUnknown',
  'The container could not be located when the pod was terminated',
);

export const removedToRestart = lost(RESTARTING_ALL, RESTARTING_ALL_MESSAGE);

/** An init container whose traces are gone, of a pod that has long been initialized. */
export const forgottenInit: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
    startedAt: null,
    finishedAt: null,
  },
};
