/** Why a pod was evicted and not another: kept for people. */
import type { Pod } from '../../api/pod.ts';
import { isCriticalPod } from '../../api/pod-traits.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { SignalReadings } from '../../model/usage.ts';
import type { RankedPod } from './rank.ts';
import type { ReclaimStep } from './reclaim.ts';
import { amountOf, showAmount, type Threshold } from './threshold.ts';

export interface EvictionDecision {
  readonly time: string;
  /** The signal, or the limit of the pod itself, as the metric names it. */
  readonly signal: string;
  /** What had to be free, and what was. Missing for a limit of the pod itself. */
  readonly threshold?: string;
  readonly available?: string;
  /** What was freed before any pod, in order, and what was available then. */
  readonly reclaimed: readonly { readonly step: ReclaimStep; readonly available: string | undefined }[];
  /** `namespace/name`; missing where nothing had to be evicted, or nothing could be. */
  readonly evicted?: string;
  readonly message: string;
  /** Every pod, in the order in which they would go. */
  readonly ranking: readonly {
    readonly pod: string;
    readonly uid: string;
    readonly priority: number;
    readonly usage: number | undefined;
    readonly request: number;
    readonly critical: boolean;
  }[];
}

export interface ReclaimedStep {
  readonly step: ReclaimStep;
  readonly readings: SignalReadings;
}

export function describeDecision(given: {
  readonly at: number;
  readonly threshold: Threshold;
  readonly readings: SignalReadings;
  readonly reclaimed: readonly ReclaimedStep[];
  readonly ranked: readonly RankedPod[];
  readonly evicted: Pod | undefined;
  readonly message: string;
}): EvictionDecision {
  const { threshold, readings, evicted, message } = given;
  const { signal, amount } = threshold;
  const reading = readings.get(signal);
  const showFree = (all: SignalReadings) => {
    const found = all.get(signal);
    return found && showAmount(signal, found.available);
  };
  return {
    time: formatTimestamp(given.at),
    signal,
    ...(reading && {
      threshold: showAmount(signal, amountOf(amount, reading.capacity)),
      available: showAmount(signal, reading.available),
    }),
    reclaimed: given.reclaimed.map(({ step, readings: after }) => ({ step, available: showFree(after) })),
    ...(evicted && { evicted: nameOf(evicted) }),
    message,
    ranking: given.ranked.map(({ pod, priority, usage, request }) => ({
      pod: nameOf(pod),
      uid: pod.metadata.uid,
      priority,
      usage,
      request,
      critical: isCriticalPod(pod),
    })),
  };
}

/** A pod above a limit of its own: no other was considered. */
export function describeLimit(
  pod: Pod,
  { signal, message }: { readonly signal: string; readonly message: string },
  at: number,
): EvictionDecision {
  return { time: formatTimestamp(at), signal, reclaimed: [], evicted: nameOf(pod), message, ranking: [] };
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
