/** When to look at the node again: seldom while there is plenty, often while something is about to run out. */
import type { SignalReadings } from '../../model/usage.ts';
import { amountOf, type Threshold } from './threshold.ts';

export interface LookLimits {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** At the speed since the last look, half of the time that is left until a threshold is met. */
export function nextLookMs(
  thresholds: readonly Threshold[],
  before: SignalReadings,
  now: SignalReadings,
  { shortestMs, longestMs }: LookLimits,
): number {
  const waits = thresholds.map(({ signal, amount }) => {
    const [earlier, latest] = [before.get(signal), now.get(signal)];
    if (earlier === undefined || latest === undefined || latest.time <= earlier.time) return longestMs;
    const perMs = (earlier.available - latest.available) / (latest.time - earlier.time);
    const left = latest.available - amountOf(amount, latest.capacity);
    // Where it is met already, looking more often would change nothing.
    return perMs <= 0 || left < 0 ? longestMs : left / perMs / 2;
  });
  return Math.min(Math.max(Math.min(...waits, longestMs), shortestMs), longestMs);
}
