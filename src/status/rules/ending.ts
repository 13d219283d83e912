/** What is special about the status of a pod that ends or has ended. */
import type { Pod } from '../../api/pod.ts';
import type { ContainerStatus, PodStatus } from '../../api/pod-status.ts';
import { hasEnded } from '../../api/pod-traits.ts';

/** The end as it was published before this kubelet had the pod; undefined where it is not complete. */
export function publishedEnd(pod: Pod): PodStatus | undefined {
  const { status } = pod;
  if (status === undefined || !hasEnded(pod)) return undefined;
  return statusesOf(status).some(({ state }) => state.running !== undefined) ? undefined : status;
}

/** Whether the readiness of a container that runs has changed. */
export function readinessChanged(before: PodStatus, now: PodStatus): boolean {
  const known = new Map(statusesOf(before).map((status) => [status.name, status]));
  return statusesOf(now).some(({ name, state, ready }) => {
    const old = known.get(name);
    return state.running !== undefined && old?.state.running !== undefined && old.ready !== ready;
  });
}

function statusesOf(status: PodStatus): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}
