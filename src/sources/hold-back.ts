/** Sets of pods on their way from the API server: passed on late, the latest set alone. */
import type { Pod } from '../api/pod.ts';
import type { Supervisor } from '../base/supervise.ts';

export type TellPods = (pods: readonly Pod[]) => void;

/** Each set names every pod, and many pods may come at once: what arrives together is passed on together. */
export function inOneGo(supervisor: Pick<Supervisor, 'guard'>, tell: TellPods): TellPods {
  let latest: readonly Pod[] | undefined;
  const pass = () => {
    const pods = latest;
    latest = undefined;
    if (pods !== undefined) supervisor.guard('API pods', { pods: pods.length }, () => tell(pods));
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
export function onceKnown(node: KnownNode, tell: TellPods): TellPods {
  let isKnown = false;
  let waiting: readonly Pod[] | undefined;
  const unsubscribe = node.subscribe('API source', (object) => {
    if (object === undefined || isKnown) return;
    isKnown = true;
    unsubscribe();
    if (waiting !== undefined) tell(waiting);
    waiting = undefined;
  });
  return (pods) => {
    isKnown ||= node.object() !== undefined;
    if (isKnown) tell(pods);
    else waiting = pods;
  };
}
