import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';
import { createVolumeMetrics } from './metrics-volumes.ts';

test('volumes and their operations are counted under the names that dashboards know', () => {
  const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '' });
  const plugin = 'kubernetes.io/secret';
  const count = createVolumeMetrics(
    metrics,
    () => [
      { plugin, state: 'desired', count: 2 },
      { plugin, state: 'actual', count: 1 },
    ],
    () => ({ orphans: 2, failed: 1 }),
  );
  count({ plugin, operation: 'volume_mount', seconds: 0.2, failed: false });
  count({ plugin, operation: 'volume_mount', seconds: 0.2, failed: true });
  count({ plugin, operation: 'volume_unmount', seconds: 0.01, failed: false });
  count({ plugin, operation: 'measure', seconds: 0.002, failed: false });
  count({ plugin, operation: 'reconstruct', seconds: 0, failed: false });
  count({ plugin, operation: 'reconstruct', seconds: 0, failed: true });
  count({ plugin, operation: 'force_clean', seconds: 0, failed: false });
  count({ plugin, operation: 'force_clean', seconds: 0, failed: true });
  count({ plugin, operation: 'verify_controller_attached_volume', seconds: 0, failed: false });
  count({ plugin, operation: 'volume_apply_access_control', seconds: 0, failed: false });
  const text = metrics.render();
  for (const line of [
    'storage_operation_duration_seconds_bucket{migrated="false",operation_name="volume_mount",status="success",volume_plugin="kubernetes.io/secret",le="0.1"} 0',
    'storage_operation_duration_seconds_bucket{migrated="false",operation_name="volume_mount",status="success",volume_plugin="kubernetes.io/secret",le="0.25"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_mount",status="fail-unknown",volume_plugin="kubernetes.io/secret"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_unmount",status="success",volume_plugin="kubernetes.io/secret"} 1',
    'volume_operation_total_seconds_count{operation_name="overall_volume_mount",plugin_name="kubernetes.io/secret"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/secret",state="desired_state_of_world"} 2',
    'kubelet_volume_metric_collection_duration_seconds_bucket{metric_source="du",le="0.005"} 1',
    'reconstruct_volume_operations_total 2',
    'kubelet_orphan_pod_cleaned_volumes 2',
    'kubelet_orphan_pod_cleaned_volumes_errors 1',
    'reconstruct_volume_operations_errors_total 1',
    'force_cleaned_failed_volume_operations_total 2',
    'force_cleaned_failed_volume_operation_errors_total 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="verify_controller_attached_volume",status="success",volume_plugin="kubernetes.io/secret"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_apply_access_control",status="success",volume_plugin="kubernetes.io/secret"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/secret",state="actual_state_of_world"} 1',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
});
