/** What a delete does: a pod gets its time to end, an object with finalizers waits for them, everything else goes at once. */
import { type ApiObject, mapOf } from './objects.ts';
import { conflict, invalidObject } from './refusal.ts';
import type { Resource } from './resources.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export type Deletion =
  | { readonly kind: 'remove' }
  | { readonly kind: 'mark'; readonly object: ApiObject }
  /** It is being deleted, and no sooner than before. */
  | { readonly kind: 'none' };

const DEFAULT_GRACE_SECONDS = 30;

/** `timestampIn`: RFC 3339, so many seconds from now. */
export function planDeletion(
  resource: Resource,
  current: ApiObject,
  options: DeleteOptions,
  timestampIn: (seconds: number) => string,
): Deletion {
  checkPreconditions(resource, current, options);
  const { metadata } = current;
  const grace = resource.kind === 'Pod' ? podGrace(current, options) : 0;
  const known = metadata.deletionGracePeriodSeconds;
  const isSooner = metadata.deletionTimestamp === undefined || (known !== undefined && grace < known);
  const hasFinalizers = (metadata.finalizers ?? []).length > 0 || resource.kind === 'Namespace';
  if (grace === 0 && !hasFinalizers) return { kind: 'remove' };
  if (!isSooner) return { kind: 'none' };
  const deleted = {
    ...metadata,
    deletionTimestamp: timestampIn(grace),
    deletionGracePeriodSeconds: grace,
    ...(metadata.generation !== undefined && { generation: metadata.generation + 1 }),
  };
  const status = resource.kind === 'Namespace' ? { status: { ...mapOf(current.status), phase: 'Terminating' } } : {};
  return { kind: 'mark', object: { ...current, metadata: deleted, ...status } };
}

/** An object that waited for its finalizers, and has none left. */
export const isReadyToGo = ({ kind, metadata }: ApiObject): boolean =>
  kind !== 'Namespace' &&
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;

function podGrace({ spec, status }: ApiObject, { gracePeriodSeconds }: DeleteOptions): number {
  const { phase } = mapOf(status);
  // Nothing of it runs any more: nothing needs time.
  if (phase === 'Succeeded' || phase === 'Failed') return 0;
  const own = mapOf(spec)['terminationGracePeriodSeconds'];
  const grace = gracePeriodSeconds ?? (typeof own === 'number' ? own : DEFAULT_GRACE_SECONDS);
  return grace < 0 ? 1 : grace;
}

function checkPreconditions(
  resource: Resource,
  { metadata }: ApiObject,
  { preconditions, gracePeriodSeconds }: DeleteOptions,
): void {
  const { name, uid, resourceVersion } = metadata;
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds > Number.MAX_SAFE_INTEGER / 1000) {
    throw invalidObject(resource, name, [
      { path: 'gracePeriodSeconds', kind: 'Invalid value', value: gracePeriodSeconds, detail: 'is too large' },
    ]);
  }
  const wrong = (what: string, wanted: string, found: string) =>
    conflict(
      resource,
      name,
      `the ${what} in the precondition (${wanted.slice(0, 100)}) does not match the ${what} in record (${found}). The object might have been deleted and then recreated`,
    );
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) throw wrong('UID', preconditions.uid, uid);
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw wrong('ResourceVersion', preconditions.resourceVersion, resourceVersion);
  }
}
