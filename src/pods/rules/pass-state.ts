/**
 * The passes of a worker: one at a time, each begun by a wake-up. Wake-ups during a pass are merged into one more pass.
 *
 *   resting ──began──► passing ──acts ahead──► ahead ──caught up──► passing
 *      ▲─────────────────┴──────────────────────┴──succeeded, failed, interrupted
 *
 * A pass is ahead while it acts on more than the runtime has confirmed. When the runtime confirms the rest, the view is published in
 * the middle of the pass.
 */
import type { Pod } from '../../api/pod.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { Decision } from '../../plan/plan-ahead.ts';
import type { WorkerState } from './worker-state.ts';

/** Why a worker is woken. */
export type WakeReason =
  /** An event or a list of the runtime shows a change of this pod. */
  | 'runtime-changed'
  | 'probe-verdict'
  /** An event announces the end of a container before the runtime's status shows it. Only a pod that runs starts the next container. */
  | 'exit-announced'
  /** The runtime answers: a pass that failed before may succeed now. */
  | 'runtime-listed'
  /** `syncFrequency` has passed: everything is decided again. */
  | 'resync'
  /** An object changed that a container of this pod waits for. */
  | 'object-changed'
  /** A condition of the pod has changed that others decide: its resize is deferred, or can't be made. */
  | 'resize-judged'
  /** A time that the worker has set is reached: a retry, a back-off, a deadline. */
  | 'timer'
  /** The state of the pod's worker changed: a new spec, a deletion, an end. */
  | 'state-changed'
  /** The last pass acted: the next one observes the result. */
  | 'acted';

/** What a pass is for, as metrics name it. */
export type PassKind = 'create' | 'update' | 'sync' | 'kill' | 'terminated';

export interface BegunPass {
  readonly kind: PassKind;
  readonly pod: Pod;
  /** Monotonic time, ms. */
  readonly began: number;
}

/** `failures` counts the passes that failed since the last one that succeeded. */
export type PassState =
  | { readonly step: 'resting'; readonly failures: number; readonly lastPod: Pod | undefined }
  | { readonly step: 'passing'; readonly failures: number; readonly pass: BegunPass; readonly isWoken: boolean }
  | { readonly step: 'ahead'; readonly failures: number; readonly pass: BegunPass; readonly decision: Decision };

export type PassEvent =
  | { readonly kind: 'began'; readonly life: WorkerState; readonly isNew: boolean; readonly mono: number }
  | { readonly kind: 'woken'; readonly reason: WakeReason; readonly life: WorkerState }
  | { readonly kind: 'acts-ahead'; readonly decision: Decision }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The pod must end, or the kubelet stops: no failure. */
  | { readonly kind: 'interrupted' };

export type PassEffect =
  /** Another pass is due. */
  | { readonly kind: 'pass' }
  /** Observe the containers of this decision again and publish them, in the middle of the pass. */
  | { readonly kind: 'show'; readonly decision: Decision }
  | { readonly kind: 'retry'; readonly error: unknown; readonly inMs: number }
  /** The pass is over: for metrics. */
  | { readonly kind: 'measure'; readonly pass: BegunPass };

export interface PassStep {
  readonly state: PassState;
  readonly effects: readonly PassEffect[];
}

export const FIRST_PASS: PassState = { step: 'resting', failures: 0, lastPod: undefined };

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;
const NONE: readonly PassEffect[] = [];
const PASS: readonly PassEffect[] = [{ kind: 'pass' }];

export function nextPass(state: PassState, event: PassEvent): PassStep {
  switch (event.kind) {
    case 'began': {
      const pass = { kind: kindOfPass(state, event.life, event.isNew), pod: event.life.pod, began: event.mono };
      return { state: { step: 'passing', failures: state.failures, pass, isWoken: false }, effects: NONE };
    }
    case 'woken':
      return woken(state, event.reason, event.life);
    case 'acts-ahead':
      return actsAhead(state, event.decision);
    case 'caught-up':
      if (state.step !== 'ahead') return { state, effects: NONE };
      return {
        state: { step: 'passing', failures: state.failures, pass: state.pass, isWoken: true },
        effects: NONE,
      };
    case 'succeeded':
      return over(state, 0);
    case 'failed': {
      const failures = state.failures + 1;
      const inMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
      return over(state, failures, { kind: 'retry', error: event.error, inMs });
    }
    case 'interrupted':
      return over(state, state.failures);
    default:
      return assertNever(event);
  }
}

function over(state: PassState, failures: number, ...effects: readonly PassEffect[]): PassStep {
  if (state.step === 'resting') return { state, effects: NONE };
  const { pass } = state;
  return {
    state: { step: 'resting', failures, lastPod: pass.pod },
    effects: [...effects, { kind: 'measure', pass }],
  };
}

function kindOfPass(state: PassState, life: WorkerState, isNew: boolean): PassKind {
  if (life.step !== 'syncing') return life.step === 'terminating' ? 'kill' : 'terminated';
  const lastPod = state.step === 'resting' ? state.lastPod : state.pass.pod;
  if (lastPod === undefined) return isNew ? 'create' : 'sync';
  return lastPod === life.pod ? 'sync' : 'update';
}

function woken(state: PassState, reason: WakeReason, life: WorkerState): PassStep {
  switch (reason) {
    case 'runtime-changed':
    case 'probe-verdict':
    case 'timer':
      if (state.step === 'resting') return { state, effects: PASS };
      if (state.step === 'passing') return { state: { ...state, isWoken: true }, effects: PASS };
      return { state, effects: [...PASS, { kind: 'show', decision: state.decision }] };
    case 'exit-announced':
      return { state, effects: life.step === 'syncing' ? PASS : NONE };
    case 'resync':
      // A pod that failed has a retry of its own, with its back-off.
      return { state, effects: state.step === 'resting' && state.failures === 0 ? PASS : NONE };
    case 'runtime-listed':
      return { state, effects: state.failures > 0 ? PASS : NONE };
    case 'object-changed':
    case 'resize-judged':
    case 'state-changed':
    case 'acted':
      return { state, effects: PASS };
    default:
      return assertNever(reason);
  }
}

/** A wake-up earlier in the pass may have been the confirmation. */
function actsAhead(state: PassState, decision: Decision): PassStep {
  if (state.step !== 'passing') return { state, effects: NONE };
  const { failures, pass, isWoken } = state;
  return { state: { step: 'ahead', failures, pass, decision }, effects: isWoken ? [{ kind: 'show', decision }] : NONE };
}
