/** Volumes of this node, counted, and how long it takes to make, measure and remove them. */
import type { Metrics } from './metrics.ts';

export interface CountedOperation {
  readonly plugin: string;
  readonly operation: string;
  readonly seconds: number;
  readonly failed: boolean;
}

/** Of the last sweep for directories of pods that no longer exist. */
export interface CountedOrphans {
  readonly orphans: number;
  readonly failed: number;
}

export interface CountedVolumes {
  readonly plugin: string;
  readonly state: 'desired' | 'actual';
  readonly count: number;
}

const MEASURE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STORAGE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function createVolumeMetrics(
  metrics: Metrics,
  counts: () => readonly CountedVolumes[],
  sweep: () => CountedOrphans,
): (operation: CountedOperation) => void {
  const operations = metrics.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Seconds that operations on volumes took, by plugin, operation and outcome.',
    labels: ['migrated', 'operation_name', 'status', 'volume_plugin'],
    buckets: STORAGE_BUCKETS,
  });
  const overall = metrics.histogram({
    name: 'volume_operation_total_seconds',
    help: 'Seconds from the request for a volume to its being there, by plugin.',
    labels: ['operation_name', 'plugin_name'],
    buckets: STORAGE_BUCKETS,
  });
  metrics.computed(
    'gauge',
    {
      name: 'volume_manager_total_volumes',
      help: 'Number of volumes in the desired and the actual state of the world, by plugin.',
      labels: ['plugin_name', 'state'],
    },
    () => counts().map(({ plugin, state, count }) => ({ labels: [plugin, `${state}_state_of_world`], value: count })),
  );
  metrics.computed(
    'gauge',
    {
      name: 'kubelet_orphan_pod_cleaned_volumes',
      help: 'Orphaned pods that the last sweep found on disk.',
      labels: [],
    },
    () => [{ labels: [], value: sweep().orphans }],
  );
  metrics.computed(
    'gauge',
    {
      name: 'kubelet_orphan_pod_cleaned_volumes_errors',
      help: 'Orphaned pods that the last sweep found on disk although an earlier one had found them, too.',
      labels: [],
    },
    () => [{ labels: [], value: sweep().failed }],
  );
  const measured = metrics.histogram({
    name: 'kubelet_volume_metric_collection_duration_seconds',
    help: 'Seconds that it took to measure a volume, by the way it was measured.',
    labels: ['metric_source'],
    buckets: MEASURE_BUCKETS,
  });
  const reconstructed = metrics.counter({
    name: 'reconstruct_volume_operations_total',
    help: 'Volumes on disk that an earlier kubelet made, and that are managed again or removed.',
    labels: [],
  });
  const unknown = metrics.counter({
    name: 'reconstruct_volume_operations_errors_total',
    help: 'Volumes on disk that an earlier kubelet made, of a plugin that is unknown.',
    labels: [],
  });
  const forced = metrics.counter({
    name: 'force_cleaned_failed_volume_operations_total',
    help: 'Volumes of an unknown plugin that an earlier kubelet made, and that were to be removed.',
    labels: [],
  });
  const notForced = metrics.counter({
    name: 'force_cleaned_failed_volume_operation_errors_total',
    help: 'Volumes of an unknown plugin that could not be removed, because they are still mounted.',
    labels: [],
  });
  return ({ plugin, operation, seconds, failed }) => {
    if (operation === 'measure') {
      measured.observe(seconds, ['du']);
      return;
    }
    if (operation === 'reconstruct') {
      reconstructed.add(1, []);
      if (failed) unknown.add(1, []);
      return;
    }
    if (operation === 'force_clean') {
      forced.add(1, []);
      if (failed) notForced.add(1, []);
      return;
    }
    operations.observe(seconds, ['false', operation, failed ? 'fail-unknown' : 'success', plugin]);
    if (!failed && operation === 'volume_mount') overall.observe(seconds, ['overall_volume_mount', plugin]);
  };
}
