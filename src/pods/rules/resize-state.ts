/**
 * How far the resize of a pod is, as its two conditions report it, and which events follow.
 *
 *   nothing ──spec changes──► pending (Deferred, Infeasible) ──room──► in progress ──in force──► nothing
 *
 * Both can be there at once: a second resize is pending while the first one is in progress.
 */
import type { Pod } from '../../api/pod.ts';
import { parseTimestamp } from '../../api/timestamp.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { PodResize } from '../../model/allocation.ts';

export type ResizeEvent =
  /** The spec requests what is allocated. */
  | { readonly kind: 'settled' }
  | { readonly kind: 'accepted'; readonly generation: number }
  | {
      readonly kind: 'refused';
      readonly reason: 'Deferred' | 'Infeasible';
      readonly message: string;
      readonly generation: number;
    }
  /** Whether something that runs has other resources than are allocated. */
  | { readonly kind: 'observed'; readonly resizing: boolean; readonly generation: number }
  | { readonly kind: 'failed'; readonly message: string; readonly generation: number };

export interface NextResize {
  readonly state: PodResize;
  /** What is reported with an event, about the spec of this generation. */
  readonly report?: {
    readonly what: 'Started' | 'Completed' | 'Error' | 'Deferred' | 'Infeasible';
    readonly generation: number;
  };
}

export function nextResize(state: PodResize, event: ResizeEvent, now: number): NextResize {
  const { pending, inProgress } = state;
  switch (event.kind) {
    case 'settled':
      return pending === undefined ? { state } : { state: only({ inProgress }) };
    case 'accepted': {
      // An earlier error was about an earlier resize.
      const { generation } = event;
      return { state: { inProgress: { generation, since: now } }, report: { what: 'Started', generation } };
    }
    case 'refused': {
      const { reason, message, generation } = event;
      if (pending?.reason === reason && pending.message === message && pending.generation === generation)
        return { state };
      const since = pending?.reason === reason ? pending.since : now;
      const next = only({ inProgress, pending: { reason, message, generation, since } });
      const isNew = pending?.reason !== reason || pending.generation !== generation;
      return isNew ? { state: next, report: { what: reason, generation } } : { state: next };
    }
    case 'observed': {
      if (event.resizing === (inProgress !== undefined)) return { state };
      if (inProgress === undefined)
        return { state: only({ pending, inProgress: { generation: event.generation, since: now } }) };
      return { state: only({ pending }), report: { what: 'Completed', generation: inProgress.generation } };
    }
    case 'failed': {
      const generation = inProgress?.generation ?? event.generation;
      const since = inProgress?.error === undefined ? now : inProgress.since;
      const next = only({ pending, inProgress: { error: event.message, generation, since } });
      return inProgress?.error === event.message
        ? { state: next }
        : { state: next, report: { what: 'Error', generation } };
    }
    default:
      return assertNever(event);
  }
}

function only({ pending, inProgress }: { [Key in keyof PodResize]: PodResize[Key] | undefined }): PodResize {
  return { ...(pending === undefined ? {} : { pending }), ...(inProgress === undefined ? {} : { inProgress }) };
}

/** What an earlier kubelet reported. */
export function reportedResize({ status, metadata }: Pod, now: number): PodResize {
  const find = (wanted: string) => (status?.conditions ?? []).find(({ type }) => type === wanted);
  const times = (one: ReturnType<typeof find>) => ({
    generation: one?.observedGeneration ?? metadata.generation ?? 0,
    since: parseTimestamp(one?.lastTransitionTime ?? '') ?? now,
  });
  const pending = find('PodResizePending');
  const inProgress = find('PodResizeInProgress');
  const reason = pending?.reason === 'Infeasible' ? 'Infeasible' : 'Deferred';
  return only({
    pending: pending && { reason, message: pending.message ?? '', ...times(pending) },
    inProgress: inProgress && {
      ...(inProgress.reason === 'Error' ? { error: inProgress.message ?? '' } : {}),
      ...times(inProgress),
    },
  });
}
