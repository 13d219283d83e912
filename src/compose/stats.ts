/** Statistics of the node, its cgroups and its pods. */
import { join } from 'node:path';
import type { Pod } from '../api/pod.ts';
import type { Config } from '../config/config.ts';
import type { OomWatcher } from '../oom/oom.ts';
import type { Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { podLogDirectory } from '../runtime/spec/sandbox.ts';
import { countsWithoutCache, metricSelection } from '../stats/settings.ts';
import {
  cgroupPlaces,
  createStatsPods,
  endedContainers,
  imagePlaces,
  measureLayer,
  memoryAvailable,
  nodeGroups,
  runtimeStats,
  runtimeUse,
  sandboxImage,
  taskCounts,
  volumeFacts,
  writableLayers,
} from '../stats/sources.ts';
import { createStats, type Stats } from '../stats/stats.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { PartDeps } from './compose.ts';
import type { VolumeParts } from './volumes.ts';

export interface StatsTools {
  readonly cri: CriClient;
  readonly pods: Pods;
  readonly volumes: Volumes;
  readonly resources: Resources;
  readonly oomWatcher: Pick<OomWatcher, 'kills'>;
  readonly measureTree: VolumeParts['measureTree'];
}

export function composeStats(config: Config, deps: PartDeps, tools: StatsTools): Stats {
  const { clock, log, supervisor, nodeName, host, machine } = deps;
  const { files, cgroups, capacity } = host;
  const { cri, pods, resources, oomWatcher } = tools;
  const { read } = cgroups.files((path, error) =>
    log.v(2)?.info('Failed to read a file of the kernel', { path, err: error }),
  );
  const { kubelet, settings } = config;
  const { root } = settings.directories;
  const { bootedAtSeconds } = host.own.usage();
  const size = { memory: machine.memoryBytes, swap: machine.swapBytes };
  return createStats(
    {
      clock,
      log: log.named('stats'),
      supervisor,
      kernelFiles: cgroups.files,
      places: cgroupPlaces(cgroups.hierarchies()),
      pods: createStatsPods(pods, resources),
      groups: () => nodeGroups(config, resources, read),
      storage: {
        writableLayers: (signal) => writableLayers(cri, signal),
        images: async (signal) => runtimeUse((await cri.images.fsInfo(signal)).imageFilesystems[0]),
        imagePlaces: async (signal) => imagePlaces(await cri.images.fsInfo(signal)),
        fileSystem: files.size,
        filesUse: files.use,
        volumes: (uid) => volumeFacts(tools, uid),
        measureVolumes: tools.volumes.usage.renew,
        measureLayer: (id, signal) =>
          measureLayer(id, { table: host.mounts.table, measureTree: tools.measureTree }, signal),
        tasks: () => taskCounts(capacity.processLimit(), read),
      },
      runtimeStats: runtimeStats(config, cri),
      machine,
      mounts: host.mounts.table,
      oomKills: oomWatcher.kills,
      ended: () => pods.views().flatMap((view) => endedContainers(view, resources, oomWatcher.kills)),
      memoryAvailable: () => memoryAvailable(read),
      sandboxImage: (id, signal) => sandboxImage(cri, id, signal),
    },
    {
      nodeName,
      housekeepingMs: settings.cadvisor.housekeepingInterval,
      machine: { ...size, bootedAt: bootedAtSeconds * 1000 },
      paths: {
        root,
        logs: ({ uid, name, namespace }) =>
          podLogDirectory(kubelet.podLogsDir, { metadata: { uid, name, namespace } } as Pod),
        hostsFile: ({ uid }) => join(root, 'pods', uid, 'etc-hosts'),
      },
      podsDirectory: join(root, 'pods'),
      selection: metricSelection(config),
      withoutCache: countsWithoutCache(config),
    },
  );
}
