/** The pods that the API server has bound to this node, and the mirrors of its static pods, from a watch. */
import type { Pod } from '../api/pod.ts';
import { isMirrorPod } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import type { WatchListener } from '../kube/kube.ts';
import { readApiPod, sayTheSame } from './rules/api-pod.ts';

export interface ApiSourceDeps {
  readonly log: Logger;
  /** All pods to run, each time something about one of them has changed that is not this kubelet's own word. */
  readonly onPods: (pods: readonly Pod[]) => void;
  /** All mirror pods. They stand for pods of other sources and are never run. */
  readonly onMirrors: (mirrors: readonly Pod[]) => void;
}

/** Mirrors are told first, so that who they belong to is known when pods are looked at. */
export function createApiSource({ log, onPods, onMirrors }: ApiSourceDeps): WatchListener<unknown> {
  let pods = new Map<string, Pod>();
  let mirrors = new Map<string, Pod>();

  const read = (object: unknown): Pod | undefined => {
    const pod = readApiPod(object);
    if (!pod.ok) log.error('Left out an object that is no pod', { problem: pod.problem });
    return pod.ok ? pod.value : undefined;
  };

  const tell = (pod: Pod): void => {
    if (isMirrorPod(pod)) onMirrors([...mirrors.values()]);
    else onPods([...pods.values()]);
  };

  return {
    replaced: (objects) => {
      const before = new Map([...pods, ...mirrors]);
      pods = new Map();
      mirrors = new Map();
      for (const object of objects) {
        const pod = read(object);
        if (pod === undefined) continue;
        const known = before.get(pod.metadata.uid);
        const kept = known !== undefined && sayTheSame(known, pod) ? known : pod;
        (isMirrorPod(kept) ? mirrors : pods).set(kept.metadata.uid, kept);
      }
      onMirrors([...mirrors.values()]);
      onPods([...pods.values()]);
    },
    changed: (object) => {
      const pod = read(object);
      if (pod === undefined) return;
      const { uid } = pod.metadata;
      const known = pods.get(uid) ?? mirrors.get(uid);
      if (known !== undefined && sayTheSame(known, pod)) return;
      // Who became a mirror, or is none any more, changed sides.
      if (known !== undefined && isMirrorPod(known) !== isMirrorPod(pod)) {
        (isMirrorPod(known) ? mirrors : pods).delete(uid);
        tell(known);
      }
      (isMirrorPod(pod) ? mirrors : pods).set(uid, pod);
      tell(pod);
    },
    removed: (object) => {
      const pod = read(object);
      if (pod === undefined) return;
      const known = pods.get(pod.metadata.uid) ?? mirrors.get(pod.metadata.uid);
      if (known === undefined) return;
      pods.delete(pod.metadata.uid);
      mirrors.delete(pod.metadata.uid);
      tell(known);
    },
  };
}
