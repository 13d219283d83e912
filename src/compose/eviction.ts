/** Eviction: what it reads, whom it ends, what it frees. */
import type { Config } from '../config/config.ts';
import type { Events } from '../events/events.ts';
import { createEviction, type Eviction } from '../eviction/eviction.ts';
import { memoryAlarm } from '../eviction/memory-alarm.ts';
import { evictablePods } from '../eviction/pods-port.ts';
import { evictionConfig, watchesStalls } from '../eviction/settings.ts';
import type { Images } from '../images/images.ts';
import type { DeadContainers } from '../pods/dead-containers.ts';
import type { Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import type { LogRotation } from '../runtime/logs/rotation.ts';
import { cgroupPlaces } from '../stats/sources.ts';
import type { Stats } from '../stats/stats.ts';
import type { Cluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';

export interface EvictionTools {
  readonly pods: Pods;
  readonly statistics: Pick<Stats, 'usage'>;
  readonly images: Pick<Images, 'removeUnused'>;
  readonly deadContainers: DeadContainers;
  readonly logRotation: Pick<LogRotation, 'shrinkNow'>;
  readonly resources: Pick<Resources, 'groupCgroups'>;
  readonly events: Pick<Events, 'record'>;
  /** Undefined: standalone. */
  readonly cluster: Pick<Cluster, 'node'> | undefined;
  readonly meters: Pick<Meters, 'eviction'>;
}

export function composeEviction(config: Config, deps: PartDeps, tools: EvictionTools): Eviction {
  const { clock, log, supervisor } = deps;
  const { cgroups } = deps.host;
  const { images, deadContainers, logRotation, resources, meters } = tools;
  return createEviction(
    {
      clock,
      log: log.named('eviction'),
      supervisor,
      usage: tools.statistics.usage,
      pods: evictablePods(tools.pods, clock.sleep),
      alarm: memoryAlarm({
        isEnabled: config.kubelet.kernelMemcgNotification,
        version: cgroups.version(),
        events: cgroups.memoryEvents,
        directory: (cgroup) => cgroupPlaces(cgroups.hierarchies()).directory(cgroup, 'memory'),
        pods: () => resources.groupCgroups()?.pods,
      }),
      stalls: watchesStalls(config) ? cgroups.stallEvents : undefined,
      reclaim: {
        shrinkLargeLogs: logRotation.shrinkNow,
        removeDeadContainers: deadContainers.remove,
        removeUnusedImages: async (bytes, signal) => {
          await images.removeUnused(bytes, signal);
        },
      },
      record: tools.events.record,
      onPressure: () => tools.cluster?.node.requestUpdate(),
      onEvicted: meters.eviction.evicted,
      onStatsAge: meters.eviction.statsAge,
    },
    evictionConfig(config),
  );
}
