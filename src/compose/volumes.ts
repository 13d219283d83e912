/** The volumes of pods, and the directories of pods. */
import { createPodDirectories, type PodDirectories } from '../act/pod-directories.ts';
import type { KubeNode } from '../api/node.ts';
import { randomHex, randomNumber } from '../base/random.ts';
import type { Config } from '../config/config.ts';
import type { DiskUse } from '../host/file-job.ts';
import { createTreeRemoval } from '../host/pod-trees.ts';
import type { RecordEvent } from '../model/event.ts';
import type { Objects } from '../objects/objects.ts';
import { knownUids, type Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import { createKinds } from '../volumes/kinds/kinds.ts';
import { createVolumes, nodeAttachments, type Volumes, type VolumesDeps } from '../volumes/volumes.ts';
import type { PartDeps } from './compose.ts';

export interface VolumeTools {
  readonly resources: Resources;
  readonly record: RecordEvent;
  /** Undefined for a kubelet without an API server. */
  readonly objects: Objects | undefined;
  readonly node: () => KubeNode | undefined;
  readonly pods: () => Pods;
  /** For metrics. */
  readonly onOperation?: VolumesDeps['onOperation'] | undefined;
  readonly onProgress: NonNullable<VolumesDeps['onProgress']>;
}

export interface VolumeParts {
  readonly volumes: Volumes;
  readonly directories: PodDirectories;
  /** Removes a directory with all that is in it, and stops at anything that is mounted below. */
  readonly removeTree: (path: string) => Promise<void>;
  /** What a local directory takes with all that is in it. */
  readonly measureTree: (path: string, signal: AbortSignal) => Promise<DiskUse>;
}

export function composeVolumes(config: Config, deps: PartDeps, tools: VolumeTools): VolumeParts {
  const { kubelet, settings, features } = config;
  const { clock, log, supervisor, program, host } = deps;
  const { resources, record, objects, node, pods, onOperation, onProgress } = tools;
  const { table: mountTable, leadsToForeign } = host.mounts;
  const jobs = host.files.jobs({ clock, program });
  const { removeTree, removeUnmounted } = createTreeRemoval({ jobs, mountTable });
  const directories = createPodDirectories({
    root: settings.directories.root,
    files: host.files.guarded,
    randomName: () => randomHex(4),
    removeTree: removeUnmounted,
  });
  const kinds = createKinds(
    {
      clock,
      calls: host.mounts,
      jobs,
      mountTable,
      isForeign: leadsToForeign,
      swapAreas: host.machine.swapAreas,
      record,
      random: randomNumber,
      objects,
      allocatable: resources.allocatable,
      podMemoryLimit: resources.podMemoryLimit,
    },
    { podLevel: features.enabled('PodLevelResources') },
  );
  const volumes = createVolumes(
    {
      clock,
      log: log.named('volumes'),
      supervisor,
      kinds,
      jobs,
      mountTable,
      leadsToForeign,
      podDirectory: directories.of,
      record,
      podDirectories: {
        list: directories.list,
        known: () => knownUids(pods()),
        onOrphans: (uids) => pods().foundOnDisk(uids),
      },
      random: Math.random,
      attachments: nodeAttachments(() => node()?.status),
      onProgress,
      ...(onOperation === undefined ? {} : { onOperation }),
    },
    {
      attachedByController: kubelet.enableControllerAttachDetach,
      syncMs: kubelet.syncFrequency,
      usagePeriodMs: kubelet.volumeStatsAggPeriod,
    },
  );
  objects?.subscribe('volumes', volumes.changed);
  const measureTree = (path: string, signal: AbortSignal) =>
    jobs.run({ kind: 'measure', path }, { foreign: false, signal });
  return { volumes, directories, removeTree, measureTree };
}
