/** This node's object at the API server, kept up to date by a watch and by the answers to the kubelet's own writes. */
import { apiPath, fieldEquals } from '../api/api-path.ts';
import type { KubeNode } from '../api/node.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import { createListeners } from '../base/listeners.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube } from '../kube/kube.ts';

export interface OwnNode extends Part {
  /** Undefined while it is unknown and if there is none. */
  object(): KubeNode | undefined;
  /** Whether the first list has arrived, even an empty one. */
  isListed(): boolean;
  /** The answer to a request of the kubelet; ignored if it is older than the known object. */
  note(node: KubeNode): void;
  /** The API server has no object of this name any more. */
  noteGone(): void;
  /** Called after each change. The name is for the log. Returns the function that unsubscribes. */
  subscribe(name: string, listener: (change: NodeChange) => void): () => void;
}

export interface NodeChange {
  readonly before: KubeNode | undefined;
  readonly now: KubeNode | undefined;
}

export interface OwnNodeDeps {
  readonly kube: Pick<Kube, 'watch'>;
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'guard'>;
}

export function createOwnNode({ kube, clock, supervisor }: OwnNodeDeps, name: string): OwnNode {
  const about = () => ({ node: name });
  const listeners = createListeners<NodeChange>({ supervisor, clock, keyOf: () => name, about });
  let known: KubeNode | undefined;
  let listed = false;

  const set = (now: KubeNode | undefined) => {
    const before = known;
    if (now === before) return;
    known = now;
    listeners.notify({ before, now });
  };
  const note = (node: KubeNode) => {
    if (known === undefined || isNewer(node, known)) set(node);
  };

  const watch = kube.watch<KubeNode>({
    path: apiPath`/api/v1/nodes`,
    fieldSelector: fieldEquals('metadata.name', name),
    listener: {
      replaced: ([node]) => {
        listed = true;
        if (node === undefined) set(undefined);
        else note(node);
      },
      changed: note,
      removed: (node) => {
        if (known?.metadata.uid === node.metadata.uid) set(undefined);
      },
    },
  });

  return {
    name: 'own node',
    start: (signal) => watch.start(signal),
    stop: () => {
      listeners.stop();
      return watch.stop?.();
    },
    object: () => known,
    isListed: () => listed,
    note,
    noteGone: () => set(undefined),
    subscribe: listeners.add,
  };
}

/** Versions of one object only grow. Another UID is a newer object of the same name. */
function isNewer(node: KubeNode, than: KubeNode): boolean {
  if (node.metadata.uid !== than.metadata.uid) return true;
  const [left = '', right = ''] = [node.metadata.resourceVersion, than.metadata.resourceVersion];
  const comparable = /^\d+$/.test(left) && /^\d+$/.test(right);
  return comparable ? BigInt(left) > BigInt(right) : left !== right;
}
