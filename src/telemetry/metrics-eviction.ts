/** Pods that were evicted, by what the node or the pod had too little of. The families are shown from the first eviction on, as in the reference. */
import { DEFAULT_BUCKETS, type Metrics } from './metrics.ts';

export interface EvictionMetrics {
  evicted(signal: string): void;
  statsAge(signal: string, seconds: number): void;
}

export function createEvictionMetrics(metrics: Metrics): EvictionMetrics {
  const labels = ['eviction_signal'];
  const evictions = onFirstUse(() =>
    metrics.counter({
      name: 'kubelet_evictions',
      help: 'Cumulative number of pod evictions by eviction signal',
      labels,
    }),
  );
  const age = onFirstUse(() =>
    metrics.histogram({
      name: 'kubelet_eviction_stats_age_seconds',
      help: 'Time between when stats are collected, and when pod is evicted based on those stats by eviction signal',
      labels,
      buckets: DEFAULT_BUCKETS,
    }),
  );
  return {
    evicted: (signal) => evictions().add(1, [signal]),
    statsAge: (signal, seconds) => age().observe(seconds, [signal]),
  };
}

function onFirstUse<T>(create: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= create();
    return made;
  };
}
