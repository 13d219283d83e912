/** In which order pods end when the node is shut down, and how long each may take. */
import type { Pod } from '../../api/pod.ts';

/** Pods of this priority and above, up to the next group's, end together. */
export interface GracePeriod {
  readonly priority: number;
  readonly seconds: number;
}

/** Of the classes system-cluster-critical and above. */
const CRITICAL_PRIORITY = 2_000_000_000;
const DEFAULT_PRIORITY = 0;

export interface PeriodSettings {
  /** shutdownGracePeriod, ms. */
  readonly wholeMs: number;
  /** shutdownGracePeriodCriticalPods, ms: the last part of the whole. */
  readonly criticalMs: number;
  /** shutdownGracePeriodByPodPriority: where there are any, they count instead. */
  readonly byPriority: readonly GracePeriod[];
}

/** From low to high priority. Empty: the node is not shut down gracefully. */
export function gracePeriods({ wholeMs, criticalMs, byPriority }: PeriodSettings): readonly GracePeriod[] {
  if (byPriority.length > 0) return byPriority.toSorted((left, right) => left.priority - right.priority);
  if (wholeMs === 0 || criticalMs > wholeMs) return [];
  return [
    { priority: DEFAULT_PRIORITY, seconds: Math.floor((wholeMs - criticalMs) / 1000) },
    { priority: CRITICAL_PRIORITY, seconds: Math.floor(criticalMs / 1000) },
  ];
}

/** For how long logind must delay the shutdown. */
export function wholeSeconds(periods: readonly GracePeriod[]): number {
  return periods.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** A drain has all the time that the pods themselves want: critical ones end last. */
export function drainPeriods(pods: readonly Pod[]): readonly GracePeriod[] {
  const longest = Math.max(0, ...pods.map(({ spec }) => spec.terminationGracePeriodSeconds ?? 0));
  const seconds = longest + DRAIN_MARGIN_SECONDS;
  return [
    { priority: DEFAULT_PRIORITY, seconds },
    { priority: CRITICAL_PRIORITY, seconds },
  ];
}

/** For what follows the end of the containers: their sandbox and volumes. */
const DRAIN_MARGIN_SECONDS = 30;

/** The last group whose priority the pod reaches; the lowest for those that reach none. */
export function groupOf({ spec }: Pod, periods: readonly GracePeriod[]): number {
  const priority = spec.priority ?? DEFAULT_PRIORITY;
  return Math.max(
    0,
    periods.findLastIndex((period) => period.priority <= priority),
  );
}

/** The pod's own, where that is less than its group has. */
export function graceSecondsOf({ spec }: Pod, { seconds }: GracePeriod): number {
  return Math.min(spec.terminationGracePeriodSeconds ?? seconds, seconds);
}
