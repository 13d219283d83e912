/** What is known about the mirror pods of this node, and how often they were created and failed to be. */
import type { Pod } from '../../api/pod.ts';
import { assertNever } from '../../base/assert-never.ts';
import { FORGOTTEN_MS, mayAnswerAt, noteAnswer, type Standoff } from '../../base/standoff.ts';
import type { MirrorAction } from './plan-mirrors.ts';

export type MirrorsState =
  /** The API server has not listed them yet. */
  | { readonly step: 'unlisted' }
  | {
      readonly step: 'listed';
      readonly mirrors: readonly Pod[];
      /** By the UID of the static pod, which changes with its manifest. */
      readonly creations: ReadonlyMap<string, Standoff>;
      /** Passes in a row in which something failed. */
      readonly failures: number;
    };

export type MirrorsEvent =
  | { readonly kind: 'listed'; readonly mirrors: readonly Pod[] }
  | { readonly kind: 'created'; readonly pod: Pod; readonly mirror: Pod; readonly now: number }
  | { readonly kind: 'deleted'; readonly mirror: Pod }
  | { readonly kind: 'passed'; readonly hasFailed: boolean }
  /** The API server answers again. */
  | { readonly kind: 'server-back' };

/** By hand no one deletes a mirror pod more often within a minute. */
const CREATED_AT_ONCE = 2;
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;

export function nextMirrors(state: MirrorsState, event: MirrorsEvent): MirrorsState {
  if (event.kind === 'listed') {
    const { creations, failures } = state.step === 'listed' ? state : { creations: new Map(), failures: 0 };
    return { step: 'listed', mirrors: event.mirrors, creations, failures };
  }
  if (state.step === 'unlisted') return state;
  switch (event.kind) {
    case 'created':
      return {
        ...state,
        mirrors: [...without(state.mirrors, event.mirror), event.mirror],
        creations: noteCreation(state.creations, event.pod.metadata.uid, event.now),
      };
    case 'deleted':
      return { ...state, mirrors: without(state.mirrors, event.mirror) };
    case 'passed':
      return { ...state, failures: event.hasFailed ? state.failures + 1 : 0 };
    case 'server-back':
      return { ...state, failures: 0 };
    default:
      return assertNever(event);
  }
}

function without(mirrors: readonly Pod[], mirror: Pod): readonly Pod[] {
  return mirrors.filter(({ metadata }) => metadata.uid !== mirror.metadata.uid);
}

function noteCreation(
  creations: ReadonlyMap<string, Standoff>,
  uid: string,
  now: number,
): ReadonlyMap<string, Standoff> {
  const recent = [...creations].filter(([, { at }]) => now - at < FORGOTTEN_MS);
  return new Map([...recent, [uid, noteAnswer(creations.get(uid), now)]]);
}

/** Whether it is time to report that another process deletes the mirror of this pod again and again: once for each such time. */
export function isDeletedByAnother(state: MirrorsState, pod: Pod): boolean {
  return state.step === 'listed' && state.creations.get(pod.metadata.uid)?.times === CREATED_AT_ONCE + 1;
}

export interface DueActions {
  readonly actions: readonly MirrorAction[];
  /** When the next of the others is due, wall clock, ms. */
  readonly retryAt: number | undefined;
}

/** A mirror that another process keeps deleting is created with growing delays. */
export function dueActions(state: MirrorsState, actions: readonly MirrorAction[], now: number): DueActions {
  const creations = state.step === 'listed' ? state.creations : undefined;
  const dueAt = (action: MirrorAction): number =>
    action.kind === 'create' ? mayAnswerAt(creations?.get(action.pod.metadata.uid), CREATED_AT_ONCE) : 0;
  const later = actions.map(dueAt).filter((time) => time > now);
  return {
    actions: later.length === 0 ? actions : actions.filter((action) => dueAt(action) <= now),
    retryAt: later.length === 0 ? undefined : Math.min(...later),
  };
}

/** How long to wait after a pass; undefined: until something changes. `random` is from 0 to below 1. */
export function mirrorsBackOff(state: MirrorsState, random: number): number | undefined {
  if (state.step === 'unlisted' || state.failures === 0) return undefined;
  return Math.min(FIRST_RETRY_MS * 2 ** (state.failures - 1), LONGEST_RETRY_MS) * (0.75 + random / 4);
}
