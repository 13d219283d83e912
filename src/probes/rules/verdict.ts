/** From single results to a verdict: how many in a row change it, and when no further check is needed. */
import type { Probe } from '../../api/container.ts';
import type { ProbeVerdict } from '../../model/probe-results.ts';

export const PROBE_TYPES = ['startup', 'readiness', 'liveness'] as const;
export type ProbeType = (typeof PROBE_TYPES)[number];

export type ProbeResult = 'success' | 'failure';

export interface Count {
  readonly verdict: ProbeVerdict;
  /** The result that came last, and how many times in a row. */
  readonly last: ProbeResult | undefined;
  readonly times: number;
  /** No further check is needed: a startup probe has its verdict, a container that failed its liveness probe will be killed. */
  readonly settled: boolean;
}

export type Thresholds = Pick<Probe, 'failureThreshold' | 'successThreshold'>;

export const DEFAULT_FAILURE_THRESHOLD = 3;
export const DEFAULT_SUCCESS_THRESHOLD = 1;

/** A verdict from before a restart of the kubelet counts as if it had just been found. */
export function countFrom(type: ProbeType, verdict: ProbeVerdict): Count {
  return { verdict, last: undefined, times: 0, settled: isSettled(type, verdict) };
}

export function countResult(type: ProbeType, thresholds: Thresholds, count: Count, result: ProbeResult): Count {
  const times = count.last === result ? count.times + 1 : 1;
  if (times < neededFor(result, thresholds)) return { ...count, last: result, times };
  return { verdict: result, last: result, times, settled: isSettled(type, result) };
}

function neededFor(result: ProbeResult, { failureThreshold, successThreshold }: Thresholds): number {
  return result === 'failure'
    ? (failureThreshold ?? DEFAULT_FAILURE_THRESHOLD)
    : (successThreshold ?? DEFAULT_SUCCESS_THRESHOLD);
}

function isSettled(type: ProbeType, verdict: ProbeVerdict): boolean {
  if (type === 'startup') return verdict !== 'unknown';
  return type === 'liveness' && verdict === 'failure';
}
