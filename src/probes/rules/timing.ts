/**
 * When a probe runs. Every probe has a place of its own within its period, and the places of all probes of one period lie evenly
 * spread; a probe that begins somewhere else (a container that has just started is probed at once) drifts there in small steps.
 * So neither a burst of new pods nor a restart of the kubelet makes probes come in waves.
 *
 * Times are monotonic milliseconds.
 */
import type { ProbeVerdict } from '../../model/probe-results.ts';
import type { ProbeType } from './verdict.ts';

/** The n-th multiples of this, modulo 1, are spread evenly for every n. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/** How much longer than its period an interval may be while a probe drifts to its place. */
const LARGEST_STRETCH = 0.1;

/** The shortest interval where it may be shorter than the period at all. */
const SHORTEST_MS = 1000;

/** After a restart of the kubelet, a container without a verdict is probed within this part of the period. */
const HURRY = 0.1;

/** Less than this beside its place is at its place. */
const TOLERANCE_MS = 1;

/** The place of the n-th probe, as a part of its period. */
export function placeOf(index: number): number {
  return (index * GOLDEN_RATIO) % 1;
}

export interface FirstRun {
  readonly type: ProbeType;
  readonly place: number;
  readonly periodMs: number;
  readonly initialDelayMs: number;
  readonly containerStartedAt: number;
  readonly now: number;
  /** The container ran before this kubelet did. */
  readonly inherited: boolean;
  /** What is known of the container from before. */
  readonly known: ProbeVerdict;
  /** A startup probe has just let the container pass. */
  readonly afterStartup: boolean;
}

export function firstRunAt(run: FirstRun): number {
  const { type, place, periodMs, containerStartedAt, initialDelayMs, now, inherited } = run;
  const allowedFrom = Math.max(containerStartedAt + initialDelayMs, now);
  if (inherited) {
    const relaxed = run.known !== 'unknown' || type === 'liveness';
    return Math.max(allowedFrom, now + place * periodMs * (relaxed ? 1 : HURRY));
  }
  if (type !== 'liveness') return allowedFrom;
  // Killing early helps no one: a container has one period to start, unless `initialDelaySeconds` says how long it takes.
  if (run.afterStartup) return Math.max(allowedFrom, now + periodMs);
  return initialDelayMs > 0 ? allowedFrom : Math.max(allowedFrom, containerStartedAt + periodMs);
}

export interface NextRun {
  /** When the last run should have begun. */
  readonly due: number;
  readonly now: number;
  readonly periodMs: number;
  readonly place: number;
  /** Another failure would change nothing, so an interval may be shorter: a container that is not ready is probed sooner. */
  readonly mayHurry: boolean;
}

export function nextRunAt({ due, now, periodMs, place, mayHurry }: NextRun): number {
  if (mayHurry) {
    const wait = positiveRemainder(place * periodMs - now, periodMs);
    if (wait >= Math.min(SHORTEST_MS, periodMs / 2)) return now + wait;
  }
  const soonest = Math.max(due + periodMs, now);
  const toPlace = positiveRemainder(place * periodMs - soonest, periodMs);
  if (periodMs - toPlace < TOLERANCE_MS) return soonest;
  return soonest + Math.min(toPlace, periodMs * LARGEST_STRETCH);
}

function positiveRemainder(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
