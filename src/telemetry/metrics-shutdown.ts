/** When the last graceful shutdown of the node began and ended. */
import type { Metrics } from './metrics.ts';

export interface ShutdownMetrics {
  /** Seconds since 1970; 0: none. */
  times(start: number, end: number): void;
}

export function createShutdownMetrics(metrics: Metrics): ShutdownMetrics {
  const gauge = (what: string) =>
    metrics.gauge({
      name: `kubelet_graceful_shutdown_${what}_time_seconds`,
      help: `Last graceful shutdown ${what} time since unix epoch in seconds`,
    });
  const [start, end] = [gauge('start'), gauge('end')];
  for (const one of [start, end]) one.set(0);
  return {
    times: (startSeconds, endSeconds) => {
      start.set(startSeconds);
      end.set(endSeconds);
    },
  };
}
