/** Under which UID each desired pod runs here. */
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { Isolation } from './isolation.ts';
import type { PodsDeps } from './pods.ts';
import { fullName } from './rules/full-name.ts';

export interface IdentifiedPods {
  readonly pods: readonly Pod[];
  /** The full names of pods whose identification failed: what runs under these names is left as it is. */
  readonly unsure: ReadonlySet<string>;
}

export interface IdentitiesTools {
  readonly isolation: Isolation;
  readonly allFound: () => readonly FoundPod[];
  /** The pod with the resources that were allocated to it. */
  readonly withAllocated: (pod: Pod) => Pod;
}

/** A pod that did not change stays the same object. */
export function createIdentities(
  { identify }: Pick<PodsDeps, 'identify'>,
  { isolation, allFound, withAllocated }: IdentitiesTools,
): (given: readonly Pod[]) => IdentifiedPods {
  const identified = new WeakMap<Pod, Pod>();

  /** Undefined while the UID is not known. */
  const identifyOne = (pod: Pod): Pod | undefined => {
    if (identify === undefined || !isStaticPod(pod)) return pod;
    const namesakes = () => allFound().filter((one) => fullName(one) === fullName(pod.metadata));
    const known = identified.get(pod) ?? identify(pod, namesakes());
    if (known !== undefined) identified.set(pod, known);
    return known;
  };

  return (given) => {
    const pods: Pod[] = [];
    const unsure = new Set<string>();
    for (const pod of given) {
      const isDone = isolation.attempt(pod, 'identify', () => {
        const known = identifyOne(pod);
        if (known !== undefined) pods.push(withAllocated(known));
      });
      if (!isDone) unsure.add(fullName(pod.metadata));
    }
    return { pods, unsure };
  };
}
