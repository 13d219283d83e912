/** Probes of containers, counted; the series of a pod go when it does. */
import type { Metrics } from './metrics.ts';

export interface ProbeSample {
  /** Liveness, Readiness, Startup. */
  readonly probeType: string;
  readonly result: 'successful' | 'failed';
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly seconds: number;
}

export interface ProbeCounts {
  observe(sample: ProbeSample): void;
  forget(uid: string): void;
}

export function createProbeMetrics(metrics: Metrics): ProbeCounts {
  const total = metrics.counter({
    name: 'prober_probe_total',
    help: 'Checks of a container, by kind and result.',
    labels: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
    stability: 'BETA',
  });
  const duration = metrics.histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Seconds until a check had its answer.',
    labels: ['probe_type', 'container', 'pod', 'namespace'],
  });
  const series = new Map<string, Map<string, () => void>>();
  return {
    observe: ({ probeType, result, uid, pod, namespace, container, seconds }) => {
      const counted = [probeType, result, container, pod, namespace, uid];
      const timed = [probeType, container, pod, namespace];
      total.add(1, counted);
      duration.observe(seconds, timed);
      const ofPod = series.get(uid) ?? new Map<string, () => void>();
      series.set(uid, ofPod);
      const key = `${probeType}/${result}/${container}`;
      if (ofPod.has(key)) return;
      ofPod.set(key, () => {
        total.remove(counted);
        duration.remove(timed);
      });
    },
    forget: (uid) => {
      for (const remove of series.get(uid)?.values() ?? []) remove();
      series.delete(uid);
    },
  };
}
