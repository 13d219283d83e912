/** Which pods here refer to which objects. */
import type { Pod } from '../../api/pod.ts';
import { isStaticPod } from '../../api/pod-traits.ts';
import type { Reference, ReferenceKind } from './references.ts';

/** An object that pods here refer to. */
export interface Referred {
  readonly namespace: string;
  readonly name: string;
  /** A volume shows it: changes are needed while the pod runs. */
  readonly byVolume: boolean;
  /** The UIDs of the pods. */
  readonly pods: ReadonlySet<string>;
}

export const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Manifests can't refer to objects; a pod that has ended starts nothing more. */
export function isLiving(pod: Pod): boolean {
  return !isStaticPod(pod) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
}

export type ReferredByKind = Readonly<Record<ReferenceKind, ReadonlyMap<string, Referred>>>;

/** Pods stay the same object for as long as they don't change: each is read once. */
export function createGatherer(look: (pod: Pod) => readonly Reference[]): (pods: readonly Pod[]) => ReferredByKind {
  const looked = new WeakMap<Pod, readonly Reference[]>();
  return (pods) => {
    const found = { configMap: new Map<string, MutableReferred>(), secret: new Map<string, MutableReferred>() };
    for (const pod of pods) {
      const references = looked.get(pod) ?? look(pod);
      looked.set(pod, references);
      const { namespace, uid } = pod.metadata;
      for (const { kind, name, byVolume } of references) {
        const key = keyOf(namespace, name);
        const one = found[kind].get(key) ?? { namespace, name, byVolume: false, pods: new Set<string>() };
        one.pods.add(uid);
        one.byVolume ||= byVolume;
        found[kind].set(key, one);
      }
    }
    return found;
  };
}

interface MutableReferred extends Referred {
  byVolume: boolean;
  readonly pods: Set<string>;
}
