/** The last status of a pod: all its containers have ended, and so has the pod. */
import type { Pod } from '../../api/pod.ts';
import type { ContainerStatus, PodPhase, PodStatus } from '../../api/pod-status.ts';
import { isSidecar, isStaticPod } from '../../api/pod-traits.ts';
import { lostAtEnd } from './container-state.ts';

export function finishStatus(pod: Pod, status: PodStatus): PodStatus {
  const init = status.initContainerStatuses ?? [];
  const regular = status.containerStatuses ?? [];
  const begun = init.slice(0, lastBegun(init) + 1);
  return {
    ...status,
    ...(init.length === 0 ? {} : { initContainerStatuses: [...begun.map(ended), ...init.slice(begun.length)] }),
    ...(regular.length === 0 || !wasInitialized(pod, status) ? {} : { containerStatuses: regular.map(ended) }),
    phase: finalPhase(pod, status),
  };
}

/** A static pod has no second life under its UID, but the same file may bring it back: it keeps its phase. */
function finalPhase(pod: Pod, { phase = 'Pending' }: PodStatus): PodPhase {
  if (phase === 'Succeeded' || phase === 'Failed') return phase;
  return isStaticPod(pod) ? phase : 'Failed';
}

function ended(status: ContainerStatus): ContainerStatus {
  return status.state.terminated === undefined ? { ...status, state: lostAtEnd } : status;
}

/** Init containers start one after the other; the first one always counts as started. */
function lastBegun(init: readonly ContainerStatus[]): number {
  const last = init.findLastIndex(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  return Math.max(0, last);
}

/** Whether the regular containers were to start: if not, they have not failed. */
function wasInitialized(pod: Pod, { initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  const last = initContainerStatuses.at(-1);
  if (last === undefined) return true;
  const ran = containerStatuses.some(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  if (ran) return true;
  const spec = pod.spec.initContainers?.find(({ name }) => name === last.name);
  if (spec !== undefined && isSidecar(pod, spec)) return last.state.running !== undefined && last.started === true;
  return last.state.terminated?.exitCode === 0 || last.lastState.terminated?.exitCode === 0;
}
