/**
 * What the set of pods knows about one UID, beside what was found on the node. A pod that only the node knows has no entry.
 *
 *   (none) ──began──► managed ──gone──► (none), restarting or over
 *   (none) ──orphaned──► orphan ──began──► managed
 *                           └──not restored──► (none), and later another try
 *   restarting ──began──► managed        over ──not desired──► (none)
 */
import { podUid } from '../../api/ids.ts';
import { isBeingDeleted } from '../../api/pod-traits.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { FoundPod } from '../../model/pod-identity.ts';
import type { WorkerState } from './worker-state.ts';

export type PodEntry<Worker> =
  | { readonly kind: 'managed'; readonly worker: Worker }
  /** No source has it. It is restored from what is left of it, so that a worker can end it. */
  | { readonly kind: 'orphan'; readonly found: FoundPod }
  /** It ended here, and a successor begins under the same UID. */
  | { readonly kind: 'restarting' }
  /** Nothing of it is left here, and the API server still has it. */
  | { readonly kind: 'over' };

export type PodEntryEvent<Worker> =
  | { readonly kind: 'began'; readonly worker: Worker }
  | { readonly kind: 'orphaned'; readonly found: FoundPod }
  | { readonly kind: 'not-restored' }
  /** Its worker is done. */
  | { readonly kind: 'gone'; readonly last: Extract<WorkerState, { step: 'gone' }> }
  /** No source has it any more. */
  | { readonly kind: 'not-desired' };

export function nextEntry<Worker>(
  entry: PodEntry<Worker> | undefined,
  event: PodEntryEvent<Worker>,
): PodEntry<Worker> | undefined {
  switch (event.kind) {
    case 'began':
      return { kind: 'managed', worker: event.worker };
    case 'orphaned':
      return entry?.kind === 'managed' ? entry : { kind: 'orphan', found: event.found };
    case 'not-restored':
      return entry?.kind === 'orphan' ? undefined : entry;
    case 'gone':
      if (event.last.again === true) return { kind: 'restarting' };
      return isBeingDeleted(event.last.pod) ? { kind: 'over' } : undefined;
    case 'not-desired':
      return entry?.kind === 'over' ? undefined : entry;
    default:
      return assertNever(event);
  }
}

/** What the node still has of a pod whose worker is done: its dead containers, where a successor goes on with their restart counts. */
export function leftOnNode({ pod, again }: Extract<WorkerState, { step: 'gone' }>): FoundPod | undefined {
  const { uid, name, namespace } = pod.metadata;
  return again === true ? { uid: podUid(uid), name, namespace, alive: false } : undefined;
}
