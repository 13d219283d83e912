/** Pods that are resized in place. */
import type { Metrics } from './metrics.ts';

export interface CountedResizes {
  /** By reason, in lower case. */
  readonly pending: ReadonlyMap<string, number>;
  readonly inProgress: number;
}

export interface ResizeMetrics {
  requested(resize: { readonly resource: string; readonly requirement: string; readonly operation: string }): void;
  /** One try to give a pod its new limits. */
  tried(success: boolean, ms: number): void;
  infeasible(detail: string): void;
  deferredAccepted(trigger: string): void;
}

const BUCKETS = [10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];

export function createResizeMetrics(metrics: Metrics, count: () => CountedResizes): ResizeMetrics {
  const requested = metrics.counter({
    name: 'kubelet_container_requested_resizes_total',
    help:
      'Number of requested resizes, counted at the container level. Different resources on the same container are counted separately. ' +
      "The 'requirement' label refers to 'memory' or 'limits'; the 'operation' label can be one of 'add', 'remove', 'increase' or 'decrease'.",
    labels: ['resource', 'requirement', 'operation'],
  });
  const duration = metrics.histogram({
    name: 'kubelet_pod_resize_duration_milliseconds',
    help: 'Duration in milliseconds to actuate a pod resize',
    labels: ['success'],
    buckets: BUCKETS,
  });
  const infeasible = metrics.counter({
    name: 'kubelet_pod_infeasible_resizes_total',
    help: 'Number of infeasible resizes for pods.',
    labels: ['reason_detail'],
  });
  const accepted = metrics.counter({
    name: 'kubelet_pod_deferred_accepted_resizes_total',
    help: 'Cumulative number of resizes that were accepted after being deferred.',
    labels: ['retry_trigger'],
  });
  metrics.computed(
    'gauge',
    { name: 'kubelet_pod_pending_resizes', help: 'Number of pending resizes for pods.', labels: ['reason'] },
    () => [...count().pending].map(([reason, value]) => ({ labels: [reason], value })),
  );
  metrics.computed(
    'gauge',
    { name: 'kubelet_pod_in_progress_resizes', help: 'Number of in-progress resizes for pods.', labels: [] },
    () => [{ labels: [], value: count().inProgress }],
  );
  return {
    requested: ({ resource, requirement, operation }) => requested.add(1, [resource, requirement, operation]),
    tried: (success, ms) => duration.observe(ms, [String(success)]),
    infeasible: (detail) => infeasible.add(1, [detail]),
    deferredAccepted: (trigger) => accepted.add(1, [trigger]),
  };
}
