/**
 * The life of a pod as its worker knows it.
 *
 *   syncing ──end, removed──► terminating ──stopped──► terminated ──cleaned (once removed)──► gone
 *      └──rejected────────────────────────────────────────▲
 *
 * A static pod that is removed and desired again ends like any other and leaves its dead containers to its successor, which goes on
 * with their restart counts.
 *
 * A pod of the API server that is being deleted counts as removed once it has ended: its object is deleted when its volumes and cgroup are gone.
 * What happens inside a step is observed, never stored. Kills accumulate, grace only shrinks, and no step is made backwards.
 */
import type { Pod } from '../../api/pod.ts';
import { hasEnded, isBeingDeleted, isStaticPod } from '../../api/pod-traits.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { PodEnding } from '../../model/pod-view.ts';
import { initialGrace, shrinkGrace } from '../../plan/grace.ts';

export type WorkerState =
  | { readonly step: 'syncing'; readonly pod: Pod }
  | {
      readonly step: 'terminating';
      readonly pod: Pod;
      /** From here the grace counts, wall clock, ms. */
      readonly since: number;
      readonly graceSeconds: number;
      readonly end: PodEnding | undefined;
      readonly deleted: boolean;
      /** Its successor waits for it to end. */
      readonly again?: true;
    }
  | {
      readonly step: 'terminated';
      readonly pod: Pod;
      readonly end: PodEnding | undefined;
      readonly deleted: boolean;
      readonly again?: true;
    }
  | { readonly step: 'gone'; readonly pod: Pod; readonly again?: true };

export type WorkerInput =
  /** Its newest spec and metadata. */
  | { readonly kind: 'pod'; readonly pod: Pod }
  /** No source has it any more; `again`: a source has a successor under its UID. */
  | { readonly kind: 'removed'; readonly again?: boolean }
  /** It must end; `graceSeconds` undefined: the grace of its spec. `end` undefined: it has finished by itself. */
  | { readonly kind: 'end'; readonly end: PodEnding | undefined; readonly graceSeconds: number | undefined }
  /** Nothing of it runs any more. */
  | { readonly kind: 'stopped' }
  /** Nothing of it is left on the node. */
  | { readonly kind: 'cleaned' };

export function nextState(state: WorkerState, input: WorkerInput, now: number): WorkerState {
  switch (input.kind) {
    case 'pod':
      return withPod(state, input.pod, now);
    case 'removed':
      return removed(state, input.again === true, now);
    case 'end':
      return ending(state, input.end, input.graceSeconds, now);
    case 'stopped':
      if (state.step !== 'terminating') return state;
      return {
        step: 'terminated',
        pod: state.pod,
        end: state.end,
        deleted: state.deleted || isBeingDeleted(state.pod),
        ...(state.again ? { again: true } : {}),
      };
    case 'cleaned':
      if (state.step !== 'terminated' || !state.deleted) return state;
      return { step: 'gone', pod: state.pod, ...(state.again ? { again: true } : {}) };
    default:
      return assertNever(input);
  }
}

function withPod(state: WorkerState, pod: Pod, now: number): WorkerState {
  if (state.step === 'gone') return state;
  const updated = { ...state, pod };
  if (pod.metadata.deletionTimestamp === undefined && !wasEnded(pod)) return updated;
  if (updated.step === 'terminated') return { ...updated, deleted: updated.deleted || isBeingDeleted(pod) };
  return ending(updated, undefined, undefined, now);
}

/** This kubelet reports the end of a pod after it has ended. An end that is reported before was decided by another component, and counts. */
function wasEnded(pod: Pod): boolean {
  return hasEnded(pod) && !isStaticPod(pod);
}

function removed(state: WorkerState, isAgain: boolean, now: number): WorkerState {
  const ended = ending(state, undefined, undefined, now);
  if (ended.step !== 'terminating' && ended.step !== 'terminated') return state;
  if (ended === state && ended.deleted && (ended.again ?? false) === isAgain) return state;
  const { again: _, ...rest } = ended;
  return { ...rest, deleted: true, ...(isAgain ? { again: true } : {}) };
}

function ending(state: WorkerState, end: PodEnding | undefined, request: number | undefined, now: number): WorkerState {
  if (state.step === 'terminated' || state.step === 'gone') return state;
  const graceSeconds = shrinkGrace(initialGrace(state.pod), request);
  if (state.step === 'syncing') {
    return { step: 'terminating', pod: state.pod, since: now, graceSeconds, end, deleted: false };
  }
  const sooner = now + graceSeconds * 1000 < state.since + state.graceSeconds * 1000;
  if (!sooner && (end === undefined || state.end !== undefined)) return state;
  // The first reason is the one that the status reports.
  return { ...state, ...(sooner ? { since: now, graceSeconds } : {}), end: state.end ?? end };
}
