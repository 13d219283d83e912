/**
 * What the node is short of, over time: grace periods of soft thresholds, pressure that stays until the minimum reclaim is free, and
 * conditions that last for the transition period after it.
 */
import type { EvictionSignal, SignalReadings } from '../../model/usage.ts';
import { metThresholds, type PressureKind, pressureOf, type Threshold } from './threshold.ts';

export interface PressureState {
  /** Thresholds that were met and whose grace was over at the last look. */
  readonly met: readonly Threshold[];
  /** When each met threshold was first seen so, wall clock, ms. */
  readonly firstMetAt: ReadonlyMap<Threshold, number>;
  /** When each kind of pressure was last seen. */
  readonly lastSeenAt: ReadonlyMap<PressureKind, number>;
  /** When each signal was read that was decided on last: a stale number must not evict twice. */
  readonly decidedOn: ReadonlyMap<EvictionSignal, number>;
}

export const NO_PRESSURE: PressureState = {
  met: [],
  firstMetAt: new Map(),
  lastSeenAt: new Map(),
  decidedOn: new Map(),
};

export interface PressureConfig {
  readonly thresholds: readonly Threshold[];
  /** evictionPressureTransitionPeriod */
  readonly transitionMs: number;
}

export interface PressureStep {
  readonly state: PressureState;
  /** The conditions of the node. */
  readonly conditions: ReadonlySet<PressureKind>;
  /** To be acted on now, in the order of what is most urgent. */
  readonly due: readonly Threshold[];
}

export function stepPressure(
  state: PressureState,
  readings: SignalReadings,
  { thresholds, transitionMs }: PressureConfig,
  now: number,
): PressureStep {
  const fresh = metThresholds(thresholds, readings, false);
  const unresolved = metThresholds(state.met, readings, true);
  const current = [...fresh, ...unresolved.filter((threshold) => !fresh.includes(threshold))];
  const firstMetAt = new Map(current.map((threshold) => [threshold, state.firstMetAt.get(threshold) ?? now]));
  const lastSeenAt = new Map(state.lastSeenAt);
  for (const { signal } of current) lastSeenAt.set(pressureOf(signal), now);
  const conditions = new Set(
    [...lastSeenAt].filter(([, at]) => now - at < transitionMs || at === now).map(([kind]) => kind),
  );
  for (const kind of lastSeenAt.keys()) if (!conditions.has(kind)) lastSeenAt.delete(kind);
  const met = current.filter((threshold) => now - (firstMetAt.get(threshold) ?? now) >= threshold.graceMs);
  const due = met.filter(({ signal }) => (readings.get(signal)?.time ?? 0) > (state.decidedOn.get(signal) ?? 0));
  const decidedOn = new Map(state.decidedOn);
  for (const [signal, { time }] of readings) decidedOn.set(signal, time);
  return { state: { met, firstMetAt, lastSeenAt, decidedOn }, conditions, due: due.toSorted(byUrgency) };
}

/** Memory kills processes within seconds; disks and process ids leave more time. */
const byUrgency = (a: Threshold, b: Threshold): number => urgency(a) - urgency(b);
const urgency = ({ signal }: Threshold): number => (pressureOf(signal) === 'memory' ? 0 : 1);
