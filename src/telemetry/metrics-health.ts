/** Health checks: how each went when it was last made, and how often it went so. */
import type { Metrics } from './metrics.ts';

export interface HealthResult {
  readonly name: string;
  /** Undefined: healthy. */
  readonly reason: string | undefined;
}

export function createHealthMetrics(metrics: Metrics): (result: HealthResult) => void {
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Whether a health check went well when it was last made.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  });
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks that were made, by how they went.',
    labels: ['name', 'type', 'status'],
    stability: 'STABLE',
  });
  return ({ name, reason }) => {
    last.set(reason === undefined ? 1 : 0, [name, 'healthz']);
    total.add(1, [name, 'healthz', reason === undefined ? 'success' : 'error']);
  };
}
