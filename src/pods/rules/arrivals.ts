/** Which of the desired pods may begin now. */
import type { Pod } from '../../api/pod.ts';
import { CONFIG_SEEN, CONFIG_SOURCE, isBeingDeleted, isStaticPod } from '../../api/pod-traits.ts';
import { fullName } from './full-name.ts';
import type { WorkerInput } from './worker-state.ts';

export interface ArrivalsInput {
  /** In the order of the sources. */
  readonly desired: readonly Pod[];
  /** Pods that have a worker, wait to be ended, or were left running. */
  readonly present: readonly { readonly namespace: string; readonly name: string; readonly uid: string }[];
  /** Its containers run already: an earlier kubelet started them. */
  readonly isAlive: (uid: string) => boolean;
}

/**
 * A pod waits while another of its full name still exists: a static pod that was edited has a new UID, and the old one must be gone
 * first. Pods that run already come first, then by priority, then by the time of their creation.
 */
export function planArrivals({ desired, present, isAlive }: ArrivalsInput): readonly Pod[] {
  const taken = new Set(present.map(fullName));
  const begun = new Set(present.map(({ uid }) => uid));
  const arrivals: Pod[] = [];
  for (const pod of desired) {
    if (begun.has(pod.metadata.uid)) continue;
    // A pod that is being deleted starts nothing, so it need not wait for another of its name.
    if (taken.has(fullName(pod.metadata)) && !isBeingDeleted(pod)) continue;
    taken.add(fullName(pod.metadata));
    arrivals.push(pod);
  }
  const rank = (pod: Pod) => (isAlive(pod.metadata.uid) ? 0 : 1);
  const priority = (pod: Pod) => pod.spec.priority ?? 0;
  return arrivals.sort(
    (a, b) => rank(a) - rank(b) || priority(b) - priority(a) || compareTexts(createdAt(a), createdAt(b)),
  );
}

/**
 * Names that static pods of completely known sources have: another pod of such a name that no source has can't be desired any more, even
 * by a source that has not been heard. Without this a static pod that was edited while its kubelet was away would wait for an API server,
 * and the API server may be that pod.
 */
export function replacedNames(desired: readonly Pod[], heard: ReadonlySet<string>): ReadonlySet<string> {
  const isKnown = (pod: Pod) => isStaticPod(pod) && heard.has(pod.metadata.annotations?.[CONFIG_SOURCE] ?? '');
  return new Set(desired.filter(isKnown).map(({ metadata }) => fullName(metadata)));
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

/** Static pods have no creation time, and come first. */
const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
