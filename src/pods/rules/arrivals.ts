/** Which of the desired pods may begin now. */
import type { Pod } from '../../api/pod.ts';
import { CONFIG_SEEN, isBeingDeleted, isStaticPod } from '../../api/pod-traits.ts';
import { fullName } from './full-name.ts';
import type { WorkerInput } from './worker-state.ts';

export interface ArrivalsInput {
  /** In the order in which the sources have them. */
  readonly desired: readonly Pod[];
  /** Pods that have a worker, also those that end. */
  readonly present: readonly { readonly namespace: string; readonly name: string; readonly uid: string }[];
  /** Its containers run already: they were started by the kubelet before this one. */
  readonly isAlive: (uid: string) => boolean;
}

/**
 * A pod waits while another of its full name is still there: a static pod that was edited has a new UID, and the old one must
 * be gone first. Those that run already come first, then the important ones, then those that were made first.
 */
export function planArrivals({ desired, present, isAlive }: ArrivalsInput): readonly Pod[] {
  const taken = new Set(present.map(fullName));
  const begun = new Set(present.map(({ uid }) => uid));
  const arrivals: Pod[] = [];
  for (const pod of desired) {
    if (begun.has(pod.metadata.uid)) continue;
    // Who is being deleted will not start anything, so no one of its name has to go first.
    if (taken.has(fullName(pod.metadata)) && !isBeingDeleted(pod)) continue;
    taken.add(fullName(pod.metadata));
    arrivals.push(pod);
  }
  const rank = (pod: Pod) => (isAlive(pod.metadata.uid) ? 0 : 1);
  const priority = (pod: Pod) => pod.spec.priority ?? 0;
  return arrivals.sort((a, b) => rank(a) - rank(b) || priority(b) - priority(a) || compareTexts(madeAt(a), madeAt(b)));
}

/** What a worker is sent when its pod is desired like this; undefined where nothing changed. */
export function updateFor(present: Pod, desired: Pod | undefined): WorkerInput | undefined {
  if (desired === undefined) return { kind: 'removed' };
  if (desired === present) return undefined;
  return isAnotherLife(present, desired) ? { kind: 'removed', again: true } : { kind: 'pod', pod: desired };
}

/** The source lost the static pod and has it again: it is another life of the same UID. */
function isAnotherLife(present: Pod, desired: Pod): boolean {
  if (!isStaticPod(present) || !isStaticPod(desired)) return false;
  return present.metadata.annotations?.[CONFIG_SEEN] !== desired.metadata.annotations?.[CONFIG_SEEN];
}

/** Static pods were made by no one, and come before all others. */
const madeAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
