/** What must be done so that the API server shows this node's static pods, all of them and no others. */
import type { Pod } from '../../api/pod.ts';
import { mirrors as isMirrorOf, type MirrorOwner } from './mirror-pod.ts';

export interface MirrorsInput {
  /** Static pods that are to run here. */
  readonly wanted: readonly Pod[];
  /** Full names of static pods of which something still runs, and of those that have yet to begin: their mirrors stay. */
  readonly kept: ReadonlySet<string>;
  readonly mirrors: readonly Pod[];
  /** Undefined: the node is not registered yet. */
  readonly node: MirrorOwner | undefined;
  /** Every source of pods has said what it has. */
  readonly everySourceHeard: boolean;
}

export type MirrorAction =
  | { readonly kind: 'create'; readonly pod: Pod; readonly node: MirrorOwner }
  | { readonly kind: 'delete'; readonly mirror: Pod; readonly reason: string };

/** Whoever has the wrong mirror gets the right one after the wrong one is gone. */
export function planMirrors({ wanted, kept, mirrors, node, everySourceHeard }: MirrorsInput): readonly MirrorAction[] {
  if (node === undefined) return [];
  const actions: MirrorAction[] = [];
  const names = new Set(wanted.map(fullName));
  for (const mirror of mirrors) {
    const owner = wanted.find((pod) => fullName(pod) === fullName(mirror));
    if (owner !== undefined) {
      if (!isMirrorOf(mirror, owner, node)) {
        actions.push({ kind: 'delete', mirror, reason: 'it is being deleted or does not stand for the pod any more' });
      }
    } else if (everySourceHeard && !kept.has(fullName(mirror)) && !names.has(fullName(mirror))) {
      actions.push({ kind: 'delete', mirror, reason: 'its static pod is gone' });
    }
  }
  const taken = new Set(mirrors.map(fullName));
  for (const pod of wanted) if (!taken.has(fullName(pod))) actions.push({ kind: 'create', pod, node });
  return actions;
}

export function fullName({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
