/** The pod-resources API. */
import { join } from 'node:path';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { Devices } from '../devices/devices.ts';
import type { Pods } from '../pods/pods.ts';
import { type Managers, podResourcesOf } from '../resources/managers.ts';
import { createPodResources } from '../server/pod-resources/pod-resources.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createPodResourcesMetrics } from '../telemetry/metrics-devices.ts';
import type { PartDeps } from './compose.ts';

export interface PodResourcesTools {
  readonly pods: Pick<Pods, 'views'>;
  readonly devices: Devices;
  readonly managers: Managers;
  readonly metrics: Metrics;
}

export function composePodResources(
  { settings, features }: Config,
  { clock, log }: PartDeps,
  { pods, devices, managers, metrics }: PodResourcesTools,
): Part {
  const counts = createPodResourcesMetrics(metrics);
  return createPodResources(
    {
      log: log.named('pod-resources'),
      mono: clock.mono,
      views: pods.views,
      devices,
      ...podResourcesOf(managers),
      onRequest: counts.requested,
      onFailure: counts.failed,
    },
    {
      socket: join(settings.directories.root, 'pod-resources', 'kubelet.sock'),
      activeOnly: features.enabled('KubeletPodResourcesListUseActivePods'),
    },
  );
}
