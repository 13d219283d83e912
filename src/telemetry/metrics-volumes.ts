/** Volumes of this node, counted, and how long it takes to make, measure and remove them. */
import type { Metrics } from './metrics.ts';

export interface CountedOperation {
  readonly plugin: string;
  readonly operation: string;
  readonly seconds: number;
  readonly failed: boolean;
}

export interface CountedVolumes {
  readonly plugin: string;
  readonly state: 'desired' | 'actual';
  readonly count: number;
}

const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function createVolumeMetrics(
  metrics: Metrics,
  counts: () => readonly CountedVolumes[],
): (operation: CountedOperation) => void {
  const operations = metrics.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Seconds that operations on volumes took, by plugin, operation and outcome.',
    labels: ['migrated', 'operation_name', 'status', 'volume_plugin'],
    buckets: STORAGE_BUCKETS,
  });
  const overall = metrics.histogram({
    name: 'volume_operation_total_seconds',
    help: 'Seconds from the wish for a volume to its being there, by plugin.',
    labels: ['operation_name', 'plugin_name'],
    buckets: STORAGE_BUCKETS,
  });
  metrics.computed(
    'gauge',
    {
      name: 'volume_manager_total_volumes',
      help: 'Volumes that pods here want and volumes that are there, by plugin.',
      labels: ['plugin_name', 'state'],
    },
    () => counts().map(({ plugin, state, count }) => ({ labels: [plugin, `${state}_state_of_world`], value: count })),
  );
  return ({ plugin, operation, seconds, failed }) => {
    operations.observe(seconds, ['false', operation, failed ? 'fail-unknown' : 'success', plugin]);
    if (!failed && operation === 'volume_mount') overall.observe(seconds, ['overall_volume_mount', plugin]);
  };
}
