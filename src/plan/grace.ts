/** How long a container may take to end, in seconds. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { StopReason } from '../model/plan.ts';

/** Even a container without grace gets this long to end by itself before it is killed. */
export const MINIMUM_GRACE_SECONDS = 2;

/** The grace of one container that is stopped while its pod goes on. */
export function containerGrace(pod: Pod, container: Container | undefined, reason: StopReason): number {
  const { deletionGracePeriodSeconds } = pod.metadata;
  if (deletionGracePeriodSeconds !== undefined) return deletionGracePeriodSeconds;
  const own = pod.spec.terminationGracePeriodSeconds;
  if (own === undefined) return MINIMUM_GRACE_SECONDS;
  if (reason === 'LivenessProbe') return container?.livenessProbe?.terminationGracePeriodSeconds ?? own;
  if (reason === 'StartupProbe') return container?.startupProbe?.terminationGracePeriodSeconds ?? own;
  return own;
}

/** The grace of a pod that begins to end, unless a request is for less: at least a second, so that it is never "at once". */
export function initialGrace(pod: Pod): number {
  return Math.max(1, pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 1);
}

/** The grace of a pod that ends can be shortened, never prolonged. */
export function shrinkGrace(current: number | undefined, request: number | undefined): number {
  return Math.max(1, Math.min(current ?? Number.POSITIVE_INFINITY, request ?? current ?? 1));
}
