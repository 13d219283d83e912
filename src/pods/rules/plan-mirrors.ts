/** What must be done so that the API server shows this node's static pods, all of them and no others. */
import type { Pod } from '../../api/pod.ts';
import { isStaticPod } from '../../api/pod-traits.ts';
import type { PodView } from '../../model/pod-view.ts';
import { fullName } from './full-name.ts';
import { mirrors as isMirrorOf, type MirrorOwner } from './mirror-pod.ts';

export interface MirrorsInput {
  /** Static pods that should run here. */
  readonly wanted: readonly Pod[];
  /** Full names of static pods of which something still runs, and of those that have yet to begin: their mirrors stay. */
  readonly kept: ReadonlySet<string>;
  readonly mirrors: readonly Pod[];
  /** Undefined: the node is not registered yet. */
  readonly node: MirrorOwner | undefined;
  /** Every source has reported its pods. */
  readonly everySourceHeard: boolean;
}

export type MirrorAction =
  | { readonly kind: 'create'; readonly pod: Pod; readonly node: MirrorOwner }
  | { readonly kind: 'delete'; readonly mirror: Pod; readonly reason: string };

/** What the pods of this node mean for their mirrors. */
export function mirrorsInput(
  views: readonly Pick<PodView, 'pod' | 'step' | 'deleted'>[],
  desired: { readonly pods: readonly Pod[]; readonly everySourceHeard: boolean } | undefined,
): Pick<MirrorsInput, 'wanted' | 'kept' | 'everySourceHeard'> {
  const statics = views.filter(({ pod }) => isStaticPod(pod));
  const ending = statics.filter(({ step }) => step !== 'terminated').map(({ pod }) => pod);
  const coming = (desired?.pods ?? []).filter(isStaticPod);
  return {
    wanted: statics.filter(({ deleted }) => !deleted).map(({ pod }) => pod),
    kept: new Set([...ending, ...coming].map(({ metadata }) => fullName(metadata))),
    everySourceHeard: desired?.everySourceHeard === true,
  };
}

/** A wrong mirror is deleted first; the right one is created by the next plan. */
export function planMirrors({ wanted, kept, mirrors, node, everySourceHeard }: MirrorsInput): readonly MirrorAction[] {
  if (node === undefined) return [];
  const actions: MirrorAction[] = [];
  const owners = new Map(wanted.toReversed().map((pod) => [fullName(pod.metadata), pod]));
  for (const mirror of mirrors) {
    const name = fullName(mirror.metadata);
    const owner = owners.get(name);
    if (owner !== undefined) {
      if (!isMirrorOf(mirror, owner, node)) {
        actions.push({
          kind: 'delete',
          mirror,
          reason: 'it is being deleted or is not the mirror of this pod any more',
        });
      }
    } else if (everySourceHeard && !kept.has(name)) {
      actions.push({ kind: 'delete', mirror, reason: 'its static pod is gone' });
    }
  }
  const taken = new Set(mirrors.map(({ metadata }) => fullName(metadata)));
  for (const pod of wanted) if (!taken.has(fullName(pod.metadata))) actions.push({ kind: 'create', pod, node });
  return actions;
}
