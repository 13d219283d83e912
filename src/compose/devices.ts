/** Plugins and the devices that they have. */
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import type { Config } from '../config/config.ts';
import { createDevices, type Devices } from '../devices/devices.ts';
import type { RecordEvent } from '../model/event.ts';
import { DEVICE_PLUGINS_DIRECTORY } from '../node/data-directories.ts';
import { createPlugins, type Plugins } from '../plugins/plugins.ts';
import { knownUids, type Pods } from '../pods/pods.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createDeviceMetrics } from '../telemetry/metrics-devices.ts';
import type { PartDeps } from './compose.ts';

export interface DeviceTools {
  readonly record: RecordEvent;
  readonly metrics: Metrics;
  readonly pods: () => Pods;
  /** Devices have come or gone, or the health of those of these pods is another. */
  readonly onChange: (pods: readonly PodUid[]) => void;
}

export function composeDevices(
  config: Config,
  { clock, log, supervisor, host, machine, places }: PartDeps,
  { record, metrics, pods, onChange }: DeviceTools,
): { readonly devices: Devices; readonly plugins: Plugins } {
  const counts = createDeviceMetrics(metrics);
  const devices = createDevices(
    {
      clock,
      log: log.named('devices'),
      record,
      numaNodes: machine.memoryNodes.map(({ id }) => id),
      knownPods: () => knownUids(pods()),
      onChange,
      onRegistration: counts.registration,
      onAllocated: counts.allocated,
    },
    { directory: places?.devicePlugins ?? DEVICE_PLUGINS_DIRECTORY },
  );
  const plugins = createPlugins(
    {
      clock,
      log: log.named('plugins'),
      supervisor,
      inotify: host.files.inotify,
      record,
      handlers: { DevicePlugin: devices.handler },
    },
    { directory: join(config.settings.directories.root, 'plugins_registry') },
  );
  return { devices, plugins };
}
