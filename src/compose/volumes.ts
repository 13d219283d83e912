/** The volumes of pods: their kinds, what they are made of, and the folders of pods. */
import { randomBytes, randomInt } from 'node:crypto';
import { createPodDirectories, type PodDirectories } from '../act/pod-directories.ts';
import type { KubeNode } from '../api/node.ts';
import type { Pod } from '../api/pod.ts';
import { quantityValue } from '../api/quantity.ts';
import { CodedError } from '../base/errors.ts';
import type { Config } from '../config/config.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createFileJobs } from '../host/file-jobs.ts';
import { leadsToForeign } from '../host/foreign-path.ts';
import { mountsBelow, readMountTable } from '../host/mount-table.ts';
import type { RecordEvent } from '../model/event.ts';
import type { Objects } from '../objects/objects.ts';
import type { Resources } from '../resources/resources.ts';
import { podCgroupLimits } from '../resources/rules/cgroup-limits.ts';
import type { NodeAttachments } from '../volumes/devices.ts';
import { createFolders } from '../volumes/folders.ts';
import { createEmptyDirKind } from '../volumes/kinds/empty-dir.ts';
import { createHostPathKind } from '../volumes/kinds/host-path.ts';
import { createImageKind } from '../volumes/kinds/image.ts';
import { NO_OBJECTS } from '../volumes/kinds/no-objects.ts';
import { createObjectKinds } from '../volumes/kinds/object-kinds.ts';
import { emptyDirPlace } from '../volumes/rules/empty-dir.ts';
import type { VolumeOperation } from '../volumes/volume.ts';
import { createVolumes, type Volumes } from '../volumes/volumes.ts';
import type { PartDeps } from './compose.ts';
import { resourceListOf } from './resources.ts';

export interface VolumeTools {
  readonly resources: Resources;
  readonly record: RecordEvent;
  /** Undefined for a kubelet without an API server. */
  readonly objects: Objects | undefined;
  readonly attachments: NodeAttachments;
  /** For metrics. */
  readonly onOperation: ((operation: VolumeOperation) => void) | undefined;
}

export interface VolumeParts {
  readonly volumes: Volumes;
  readonly directories: PodDirectories;
  /** Removes a directory with all that is in it, and stops at anything that is mounted below. */
  readonly removeTree: (path: string) => Promise<void>;
}

export function composeVolumes(config: Config, deps: PartDeps, tools: VolumeTools): VolumeParts {
  const { kubelet, settings, features } = config;
  const { clock } = deps;
  const podLevel = features.enabled('PodLevelResources');
  const calls = createFileCalls();
  const jobs = createFileJobs({ clock, calls, program: deps.program });
  const removal = new AbortController();
  const removeTree = async (path: string): Promise<void> => {
    await jobs.run({ kind: 'remove', path }, { foreign: false, signal: removal.signal });
  };
  const directories = createPodDirectories({
    root: settings.directories.root,
    files: deps.host.files,
    randomName: () => randomBytes(4).toString('hex'),
    removeTree: async (path) => {
      refuseMounted(path);
      await removeTree(path);
    },
  });
  const folders = createFolders({ calls, jobs, mountTable: readMountTable });
  const node = emptyDirNode(tools.resources, podLevel);
  const isForeign = (path: string) => leadsToForeign(readMountTable(), path);
  const volumes = createVolumes(
    {
      clock,
      log: deps.log.named('volumes'),
      supervisor: deps.supervisor,
      kinds: [
        createEmptyDirKind({ folders, node }),
        createHostPathKind({ jobs, isForeign }),
        createImageKind(),
        ...createObjectKinds(
          {
            clock,
            chance: () => randomInt(2 ** 32),
            folders,
            objects: tools.objects ?? NO_OBJECTS,
            nodeAllocatable: () => resourceListOf(tools.resources.allocatable()),
            memoryBytes: (pod) => memoryBytes(pod, node),
          },
          { podLevel },
        ),
      ],
      jobs,
      mountTable: readMountTable,
      leadsToForeign: isForeign,
      podDirectory: directories.of,
      record: tools.record,
      chance: Math.random,
      attachments: tools.attachments,
      ...(tools.onOperation === undefined ? {} : { onOperation: tools.onOperation }),
    },
    {
      attachedByController: kubelet.enableControllerAttachDetach,
      syncMs: kubelet.syncFrequency,
      usagePeriodMs: kubelet.volumeStatsAggPeriod,
    },
  );
  tools.objects?.subscribe('volumes', volumes.changed);
  return { volumes, directories, removeTree };
}

/** A pod's folder goes whole or, while something is mounted below it, not at all. */
function refuseMounted(path: string): void {
  const below = mountsBelow(readMountTable(path), path).map(({ point }) => point);
  if (below.length === 0) return;
  throw new CodedError('conflict', `${path} can't be removed: still mounted below it: ${below.join(', ')}`);
}

/** As this node's object says. */
export function nodeAttachments(node: () => KubeNode | undefined): NodeAttachments {
  const status = () => node()?.status;
  return {
    attached: () => new Map(status()?.volumesAttached?.map(({ name, devicePath }) => [name, devicePath])),
    reportedInUse: () => new Set(status()?.volumesInUse),
  };
}

/** Where none is in use that could be detached, the status stays as it is. */
export function usedVolumes(volumes: Volumes): readonly string[] | undefined {
  const names = volumes.volumesInUse();
  return names.length === 0 ? undefined : names;
}

/** What volumes in memory are cut to. */
function emptyDirNode(resources: Resources, podLevel: boolean) {
  const limits = { podLevel, cpuCfsQuota: false, cpuCfsQuotaPeriod: 100_000, podPidsLimit: 0 };
  return (pod: Pod) => {
    const memory = resources.allocatable().get('memory');
    return {
      allocatableMemory: memory === undefined ? 0n : quantityValue(memory),
      podMemoryLimit: podCgroupLimits(pod, limits).memory,
      podLevel,
    };
  };
}

function memoryBytes(pod: Pod, node: ReturnType<typeof emptyDirNode>): number | undefined {
  const place = emptyDirPlace(pod, { medium: 'Memory' }, node(pod));
  return place.ok && place.value.kind === 'memory' ? place.value.sizeBytes : undefined;
}
