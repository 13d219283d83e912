/** The pods that the API server has bound to this node, and the mirrors of its static pods, from a watch. */
import type { Pod } from '../api/pod.ts';
import { isMirrorPod } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { WatchListener } from '../kube/kube.ts';
import { isSameForUs, readApiPod } from './rules/api-pod.ts';

export interface ApiSourceDeps {
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  /** All pods to run, each time one of them has changed in something that this kubelet did not write itself. */
  readonly onPods: (pods: readonly Pod[]) => void;
  /** All mirror pods. They stand for pods of other sources and are never run. */
  readonly onMirrors: (mirrors: readonly Pod[]) => void;
  /** Called first, with every pod that can be decoded. */
  readonly first?: WatchListener<Pod>;
}

/**
 * Mirror pods are reported first, so that their static pods are known when the others are handled. An object that is no pod is left
 * out: the watch and the other objects of its list go on. A pod that was good before stays as it was.
 */
export function createApiSource(deps: ApiSourceDeps): WatchListener<unknown> {
  const { log, supervisor, first } = deps;
  let pods = new Map<string, Pod>();
  let mirrors = new Map<string, Pod>();

  const read = (object: unknown): Pod | undefined => {
    const pod = readApiPod(object);
    if (!pod.ok) log.error('Failed to decode pod, skipping', { problem: pod.problem });
    return pod.ok ? pod.value : undefined;
  };
  const onPods = (all: readonly Pod[]) => supervisor.guard('API pods', { pods: all.length }, () => deps.onPods(all));
  const onMirrors = (all: readonly Pod[]) =>
    supervisor.guard('API mirror pods', { pods: all.length }, () => deps.onMirrors(all));
  const notifyFirst = (pod: Pod | undefined, call: (listener: WatchListener<Pod>) => void): void => {
    if (first !== undefined) supervisor.guard('API pod', { podUID: pod?.metadata.uid }, () => call(first));
  };

  const publish = (pod: Pod): void => {
    if (isMirrorPod(pod)) onMirrors([...mirrors.values()]);
    else onPods([...pods.values()]);
  };

  return {
    replaced: (objects) => {
      const before = new Map([...pods, ...mirrors]);
      pods = new Map();
      mirrors = new Map();
      const readable = objects.flatMap((object) => read(object) ?? before.get(uidOf(object) ?? '') ?? []);
      notifyFirst(undefined, (listener) => listener.replaced(readable));
      for (const pod of readable) {
        const known = before.get(pod.metadata.uid);
        const current = known !== undefined && isSameForUs(known, pod) ? known : pod;
        (isMirrorPod(current) ? mirrors : pods).set(current.metadata.uid, current);
      }
      onMirrors([...mirrors.values()]);
      onPods([...pods.values()]);
    },
    changed: (object) => {
      const pod = read(object);
      if (pod === undefined) return;
      notifyFirst(pod, (listener) => listener.changed(pod));
      const { uid } = pod.metadata;
      const known = pods.get(uid) ?? mirrors.get(uid);
      if (known !== undefined && isSameForUs(known, pod)) return;
      // It has become a mirror pod, or is none any more.
      if (known !== undefined && isMirrorPod(known) !== isMirrorPod(pod)) {
        (isMirrorPod(known) ? mirrors : pods).delete(uid);
        publish(known);
      }
      (isMirrorPod(pod) ? mirrors : pods).set(uid, pod);
      publish(pod);
    },
    removed: (object) => {
      // One that can't be decoded is gone all the same.
      const uid = uidOf(object) ?? '';
      const known = pods.get(uid) ?? mirrors.get(uid);
      const pod = read(object) ?? known;
      if (pod !== undefined) notifyFirst(pod, (listener) => listener.removed(pod));
      if (known === undefined) return;
      pods.delete(uid);
      mirrors.delete(uid);
      publish(known);
    },
  };
}

function uidOf(object: unknown): string | undefined {
  const uid = (object as Partial<Pod> | null | undefined)?.metadata?.uid;
  return typeof uid === 'string' ? uid : undefined;
}
