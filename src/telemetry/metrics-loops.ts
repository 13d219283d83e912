/** How often background loops and listeners have failed. */
import type { Metrics } from './metrics.ts';

export interface LoopMetrics {
  onLoopFailure(loop: string): void;
  onListenerFailure(listener: string): void;
}

export function createLoopMetrics(metrics: Metrics): LoopMetrics {
  const restarts = metrics.counter({
    name: 'kubelet_ts_loop_restarts_total',
    help: 'Times that a background loop failed and was started again.',
    labels: ['loop'],
    stability: 'none',
  });
  const failures = metrics.counter({
    name: 'kubelet_ts_listener_failures_total',
    help: 'Exceptions of listeners that were caught, so that they reached no one else.',
    labels: ['listener'],
    stability: 'none',
  });
  return {
    onLoopFailure: (loop) => restarts.add(1, [loop]),
    onListenerFailure: (listener) => failures.add(1, [listener]),
  };
}
