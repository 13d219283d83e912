/** `activeDeadlineSeconds`: how long a pod may be active on the node. */
import type { Pod } from '../api/pod.ts';
import type { PodEnd } from '../model/plan.ts';

export const DEADLINE_EXCEEDED: PodEnd = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};

/** The moment it passes, in the clock of `startedAt`; undefined for a pod without one, or that has not begun. */
export function activeDeadline(pod: Pod, startedAt: number | undefined): number | undefined {
  const seconds = pod.spec.activeDeadlineSeconds;
  return seconds === undefined || startedAt === undefined ? undefined : startedAt + seconds * 1000;
}
