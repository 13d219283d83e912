/** Why a pod was evicted and not another: kept for people. */
import type { Pod } from '../../api/pod.ts';
import { isCriticalPod, podTitle } from '../../api/pod-traits.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { SignalReadings } from '../../model/usage.ts';
import type { RankedPod } from './rank.ts';
import { amountOf, showAmount, type Threshold } from './threshold.ts';

export interface EvictionDecision {
  readonly time: string;
  readonly signal: string;
  readonly threshold: string;
  readonly available: string;
  readonly evicted: string | undefined;
  /** In the order in which they would go. */
  readonly ranking: readonly {
    readonly pod: string;
    readonly priority: number;
    readonly usage: number | undefined;
    readonly request: number;
    readonly critical: boolean;
  }[];
}

export function describeDecision(given: {
  readonly at: number;
  readonly threshold: Threshold;
  readonly readings: SignalReadings;
  readonly ranked: readonly RankedPod[];
  readonly evicted: Pod | undefined;
}): EvictionDecision {
  const { threshold, readings } = given;
  const { signal, amount } = threshold;
  const reading = readings.get(signal) ?? { available: 0, capacity: 0 };
  return {
    time: formatTimestamp(given.at),
    signal,
    threshold: showAmount(signal, amountOf(amount, reading.capacity)),
    available: showAmount(signal, reading.available),
    evicted: given.evicted && podTitle(given.evicted),
    ranking: given.ranked.map(({ pod, priority, usage, request }) => ({
      pod: podTitle(pod),
      priority,
      usage,
      request,
      critical: isCriticalPod(pod),
    })),
  };
}
