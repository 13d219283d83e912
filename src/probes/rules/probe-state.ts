/**
 * One probe of one container: when it runs, and what follows from an outcome.
 *
 *   waiting ──due──► checking ──done──► waiting
 *                       └──outcome that settles it──► settled     pause: from any step, and no way leads back
 */
import type { Probe } from '../../api/container.ts';
import { assertNever } from '../../base/assert-never.ts';
import type { ProbeVerdict } from '../../model/probe-results.ts';
import { mayBeOurs, type Outcome } from './outcome.ts';
import { nextRunAt } from './timing.ts';
import { type Count, countFrom, countResult, type ProbeResult, type ProbeType } from './verdict.ts';

export type ProbeState =
  | { readonly step: 'waiting'; readonly count: Count }
  /** `due`: when this check should have begun. */
  | { readonly step: 'checking'; readonly count: Count; readonly due: number }
  /** Its verdict can't change any more: a startup probe has passed or failed, a container failed its liveness probe. */
  | { readonly step: 'settled'; readonly count: Count }
  /** The pod ends, or the container is gone. */
  | { readonly step: 'paused'; readonly count: Count };

/** What of a probe never changes. */
export interface ProbeTraits {
  readonly type: ProbeType;
  readonly spec: Probe;
  readonly periodMs: number;
  /** Its place within the period: see timing.ts. */
  readonly place: number;
}

export type ProbeInput =
  | { readonly kind: 'due'; readonly due: number }
  /** `stalled`: this process did not get to run while the check was under way. `ms`: how long the check took. */
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly stalled: boolean; readonly ms: number }
  /** All that follows from the check is done. Monotonic, ms. */
  | { readonly kind: 'done'; readonly now: number }
  | { readonly kind: 'pause' };

export type ProbeEffect =
  | { readonly kind: 'check' }
  /** The next check, and the one under way, are not wanted any more. */
  | { readonly kind: 'cancel' }
  /** Monotonic, ms. */
  | { readonly kind: 'run-at'; readonly time: number }
  | { readonly kind: 'ignore'; readonly outcome: Outcome }
  | { readonly kind: 'report'; readonly outcome: Outcome }
  | { readonly kind: 'count'; readonly result: ProbeResult; readonly ms: number }
  | { readonly kind: 'publish'; readonly verdict: ProbeVerdict };

export interface ProbeStep {
  readonly state: ProbeState;
  readonly effects: readonly ProbeEffect[];
}

/** What is known of the container from before counts as its verdict. */
export function firstState(type: ProbeType, known: ProbeVerdict): ProbeState {
  const count = countFrom(type, known);
  return { step: count.settled ? 'settled' : 'waiting', count };
}

export function nextProbe(state: ProbeState, input: ProbeInput, traits: ProbeTraits): ProbeStep {
  switch (input.kind) {
    case 'due':
      if (state.step !== 'waiting') return { state, effects: [] };
      return { state: { step: 'checking', count: state.count, due: input.due }, effects: [{ kind: 'check' }] };
    case 'outcome':
      return state.step === 'checking' ? afterCheck(state, input, traits) : { state, effects: [] };
    case 'done':
      return state.step === 'checking' ? waitAgain(state, input.now, traits) : { state, effects: [] };
    case 'pause':
      return { state: { step: 'paused', count: state.count }, effects: [{ kind: 'cancel' }] };
    default:
      return assertNever(input);
  }
}

type Checking = Extract<ProbeState, { step: 'checking' }>;

function afterCheck(
  state: Checking,
  { outcome, stalled, ms }: Extract<ProbeInput, { kind: 'outcome' }>,
  { type, spec }: ProbeTraits,
): ProbeStep {
  if (stalled && mayBeOurs(outcome)) return { state, effects: [{ kind: 'ignore', outcome }] };
  const report: ProbeEffect = { kind: 'report', outcome };
  if (outcome.kind === 'error') return { state, effects: [report] };
  const result = outcome.kind === 'failure' ? 'failure' : 'success';
  const count = countResult(type, spec, state.count, result);
  const isNew = count.verdict !== state.count.verdict;
  return {
    state: count.settled ? { step: 'settled', count } : { ...state, count },
    effects: [
      report,
      { kind: 'count', result, ms },
      ...(isNew ? [{ kind: 'publish', verdict: count.verdict } as const] : []),
    ],
  };
}

function waitAgain({ count, due }: Checking, now: number, { type, periodMs, place }: ProbeTraits): ProbeStep {
  const mayHurry = type === 'readiness' && count.verdict !== 'success';
  const time = nextRunAt({ due, now, periodMs, place, mayHurry });
  return { state: { step: 'waiting', count }, effects: [{ kind: 'run-at', time }] };
}
