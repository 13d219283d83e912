/**
 * The life of one volume of one pod. Every change goes through `reduceVolume`; `nextStep` decides what is done in a state.
 *
 *              begun             resolved, made
 *   pending ───────────► working ───────────────► ready
 *      ▲                    │ held                  │ changed, refreshAt
 *      │ changed, retryAt   ▼                       ▼
 *      └────────────────── held          (pending or working, usable with its earlier content)
 *
 * Any state becomes `stopped` when the pod ends or the kubelet stops. What the volume has reached (`has`) is kept in every state: a volume that
 * was made stays usable while an update of it is under way or fails.
 */

import { assertNever } from '../../base/assert-never.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { VolumeStage } from '../../model/volume-progress.ts';
import type { VolumeKind, VolumeReady } from '../kind.ts';

/** A stage at which there is something to do. */
export type WorkStage = Exclude<VolumeStage, 'ready'>;

/** What a volume of a pod turned out to be. It never changes. */
export interface ResolvedVolume {
  readonly kind: VolumeKind;
  /** `pods/UID/volumes/PLUGIN/NAME` */
  readonly directory: string;
  /** As in `status.volumesInUse`; undefined where the volume is not attached to nodes. */
  readonly uniqueName: string | undefined;
}

export type Reached =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'resolved'; readonly volume: ResolvedVolume }
  /** `since`: when it was first made, wall clock. */
  | { readonly kind: 'made'; readonly volume: ResolvedVolume; readonly ready: VolumeReady; readonly since: number };

/** Why the last try did not succeed. */
export interface Obstacle {
  readonly outcome: 'waiting' | 'failed';
  readonly stage: WorkStage;
  readonly message: string;
  /** Of the error, where it failed. */
  readonly code: ErrorCode | undefined;
  /** When the volume came to the stage at which it is held. Wall clock, as all times here. */
  readonly since: number;
  readonly at: number;
  /** Tries without success in a row. */
  readonly tries: number;
}

export type VolumeState =
  /** The next step is due now. */
  | {
      readonly kind: 'pending';
      readonly has: Reached;
      readonly since: number;
      readonly obstacle: Obstacle | undefined;
    }
  | {
      readonly kind: 'working';
      readonly has: Reached;
      readonly stage: WorkStage;
      readonly since: number;
      /** What it shows has changed since this work began: it is made again. */
      readonly changed: boolean;
      readonly obstacle: Obstacle | undefined;
    }
  | { readonly kind: 'held'; readonly has: Reached; readonly obstacle: Obstacle; readonly retryAt: number }
  | {
      readonly kind: 'ready';
      readonly has: Extract<Reached, { kind: 'made' }>;
      readonly since: number;
      /** It is made again then; undefined: only after a change. */
      readonly refreshAt: number | undefined;
    }
  | { readonly kind: 'stopped'; readonly has: Reached };

export type VolumeEvent =
  | { readonly kind: 'begun'; readonly stage: WorkStage }
  | { readonly kind: 'entered'; readonly stage: WorkStage }
  | { readonly kind: 'resolved'; readonly volume: ResolvedVolume }
  | { readonly kind: 'made'; readonly ready: VolumeReady; readonly refreshAt: number | undefined }
  | { readonly kind: 'held'; readonly outcome: 'waiting'; readonly message: string }
  | { readonly kind: 'held'; readonly outcome: 'failed'; readonly message: string; readonly code: ErrorCode }
  /** What it shows, or what it waits for, has changed: worth a try at once, also where it failed before. */
  | { readonly kind: 'changed' }
  /** A volume that may hang by now counts as not made until it was made again. */
  | { readonly kind: 'unsure' }
  | { readonly kind: 'stopped' };

export type VolumeStep =
  | { readonly kind: 'resolve' }
  | { readonly kind: 'make'; readonly volume: ResolvedVolume }
  /** Undefined: until something happens. */
  | { readonly kind: 'wait'; readonly until: number | undefined };

const NOTHING: Reached = { kind: 'nothing' };

export function initialState(now: number): VolumeState {
  return { kind: 'pending', has: NOTHING, since: now, obstacle: undefined };
}

export function nextStep(state: VolumeState, now: number): VolumeStep {
  switch (state.kind) {
    case 'working':
    case 'stopped':
      return { kind: 'wait', until: undefined };
    case 'held':
      return state.retryAt > now ? { kind: 'wait', until: state.retryAt } : stepAfter(state.has);
    case 'ready': {
      const { refreshAt } = state;
      return refreshAt === undefined || refreshAt > now ? { kind: 'wait', until: refreshAt } : stepAfter(state.has);
    }
    case 'pending':
      return stepAfter(state.has);
    default:
      return assertNever(state);
  }
}

function stepAfter(has: Reached): VolumeStep {
  return has.kind === 'nothing' ? { kind: 'resolve' } : { kind: 'make', volume: has.volume };
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 122_000;

/** How long to wait after so many tries in a row. */
export function retryDelay(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.max(tries - 1, 0), LONGEST_RETRY_MS);
}

export function reduceVolume(state: VolumeState, event: VolumeEvent, now: number): VolumeState {
  if (state.kind === 'stopped') return state;
  switch (event.kind) {
    case 'begun':
      return enter({ ...state, obstacle: obstacleOf(state), changed: false }, event.stage, now);
    case 'entered':
      return state.kind === 'working' && state.stage !== event.stage ? enter(state, event.stage, now) : state;
    case 'resolved':
      return { kind: 'pending', has: { kind: 'resolved', volume: event.volume }, since: now, obstacle: undefined };
    case 'made':
      return afterMade(state, event, now);
    case 'held':
      return afterHeld(state, event, now);
    case 'changed':
      return afterChange(state, now);
    case 'unsure':
      return state.kind === 'working' ? state : unmade(state, now);
    case 'stopped':
      return { kind: 'stopped', has: state.has };
    default:
      return assertNever(event);
  }
}

/** A stage at which it was held before is one that it has waited at since then. */
function enter(
  { has, changed, obstacle }: Pick<Extract<VolumeState, { kind: 'working' }>, 'has' | 'changed' | 'obstacle'>,
  stage: WorkStage,
  now: number,
): VolumeState {
  const since = obstacle?.stage === stage ? obstacle.since : now;
  return { kind: 'working', has, stage, since, changed, obstacle };
}

function afterMade(state: VolumeState, event: Extract<VolumeEvent, { kind: 'made' }>, now: number): VolumeState {
  if (state.kind !== 'working' || state.has.kind === 'nothing') return state;
  const since = state.has.kind === 'made' ? state.has.since : now;
  const has = { kind: 'made', volume: state.has.volume, ready: event.ready, since } as const;
  return state.changed
    ? { kind: 'pending', has, since: now, obstacle: undefined }
    : { kind: 'ready', has, since: now, refreshAt: event.refreshAt };
}

/** A change that came meanwhile is tried at once. */
function afterHeld(state: VolumeState, event: Extract<VolumeEvent, { kind: 'held' }>, now: number): VolumeState {
  if (state.kind !== 'working') return state;
  const { has, stage, since, changed } = state;
  const tries = (state.obstacle?.tries ?? 0) + 1;
  const { outcome, message } = event;
  const code = event.outcome === 'failed' ? event.code : undefined;
  const obstacle: Obstacle = { outcome, message, code, stage, since, at: now, tries };
  return changed
    ? { kind: 'pending', has, since: now, obstacle }
    : { kind: 'held', has, obstacle, retryAt: now + retryDelay(tries) };
}

function afterChange(state: VolumeState, now: number): VolumeState {
  switch (state.kind) {
    case 'working':
      return { ...state, changed: true };
    case 'ready':
    case 'held':
      return { kind: 'pending', has: state.has, since: now, obstacle: obstacleOf(state) };
    default:
      return state;
  }
}

function unmade(state: VolumeState, now: number): VolumeState {
  if (state.has.kind !== 'made' || state.has.ready.foreign !== true) return state;
  const has = { kind: 'resolved', volume: state.has.volume } as const;
  return { kind: 'pending', has, since: now, obstacle: obstacleOf(state) };
}

function obstacleOf(state: VolumeState): Obstacle | undefined {
  return state.kind === 'ready' || state.kind === 'stopped' ? undefined : state.obstacle;
}

export function resolvedOf({ has }: VolumeState): ResolvedVolume | undefined {
  return has.kind === 'nothing' ? undefined : has.volume;
}

export function readyOf({ has }: VolumeState): VolumeReady | undefined {
  return has.kind === 'made' ? has.ready : undefined;
}

/** It waits for the attachment of its device. */
export function isUnattached(state: VolumeState): boolean {
  if (state.kind === 'working') return state.stage === 'attach';
  return state.kind === 'held' && state.obstacle.stage === 'attach' && state.obstacle.outcome === 'waiting';
}
