/** Delays sets of pods from the API server: only the latest set is passed on. */
import type { Pod } from '../api/pod.ts';
import type { Supervisor } from '../base/supervise.ts';

export type PublishPods = (pods: readonly Pod[]) => void;

/** Each set names every pod, and many pods may come at once: what arrives together is passed on together. */
export function passOnTogether(supervisor: Pick<Supervisor, 'guard'>, publish: PublishPods): PublishPods {
  let latest: readonly Pod[] | undefined;
  const pass = () => {
    const pods = latest;
    latest = undefined;
    if (pods !== undefined) supervisor.guard('API pods', { pods: pods.length }, () => publish(pods));
  };
  return (pods) => {
    if (latest === undefined) setImmediate(pass);
    latest = pods;
  };
}

export interface KnownNode {
  object(): object | undefined;
  subscribe(name: string, listener: (object: object | undefined) => void): () => void;
}

/** Pods are admitted by their node's labels: those of the API server wait until it has the node. */
export function onceKnown(node: KnownNode, publish: PublishPods): PublishPods {
  let isKnown = false;
  let waiting: readonly Pod[] | undefined;
  const unsubscribe = node.subscribe('API source', (object) => {
    if (object === undefined || isKnown) return;
    isKnown = true;
    unsubscribe();
    if (waiting !== undefined) publish(waiting);
    waiting = undefined;
  });
  return (pods) => {
    isKnown ||= node.object() !== undefined;
    if (isKnown) publish(pods);
    else waiting = pods;
  };
}
