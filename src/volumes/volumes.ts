/**
 * The volumes of the pods on this node: made before their containers start, kept up to date while they run, removed after.
 * The disk and the mount table are the truth; nothing else is kept over a restart.
 */

import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import type { MountTable } from '../host/mount-table.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { VolumesOutcome } from '../model/mounted-volume.ts';
import type { PodUpdateOf, PodView } from '../model/pod-view.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import { createCleanUp } from './clean-up.ts';
import { createDevices, type NodeAttachments } from './devices.ts';
import type { ObjectReference, VolumeKind } from './kind.ts';
import { createOperations, type VolumeOperation } from './operations.ts';
import { createOrphanSweep, type OrphanSweep, type PodDirectoriesPort } from './orphan-sweep.ts';
import { createPodTable, type PodTable } from './pod-table.ts';
import { createResolvers, type VolumeResolver } from './resolve.ts';
import { volumesInUse } from './rules/attachment.ts';
import { countVolumes, mountsOf, type VolumeCount } from './rules/volume-lists.ts';
import { createSubPaths, type SubPaths } from './sub-paths.ts';
import { createUsage, type Usage } from './usage.ts';

export interface Volumes extends Part {
  /** A pod is about to start: begins to fetch what its volumes will need. */
  prefetch(pod: Pod, signal: AbortSignal): void;
  /** Makes the volumes that are missing and waits for them; changes nothing where all are ready. */
  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome>;
  /** Removes everything that must not be left in the pod's directory. Fails where something can't be removed: call it again then. */
  cleanUp(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Takes the views of pods: the volumes of running pods are kept up to date, those of other pods are not touched. */
  follow(update: PodUpdateOf<'uid' | 'pod' | 'step' | 'observation'>): void;
  /** An object has changed: files that show it are written again. */
  changed(object: ObjectReference): void;
  /** The node's status has changed: volumes that wait for their device look again. */
  attachmentsChanged(): void;
  /** For the node's status; undefined where none is in use that could be detached, and the status stays as it is. */
  volumesInUse(): readonly string[] | undefined;
  /** How far each volume of this pod is, and what it waits for. Empty for a pod that has no volumes, is unknown or ends. */
  progress(uid: PodUid): readonly VolumeProgress[];
  readonly subPaths: SubPaths;
  /** The text of a file of a volume; links that lead out of it are refused. */
  readFile(volumePath: string, file: string, signal: AbortSignal): Promise<string>;
  readonly usage: Usage;
  /** How many volumes there are, by plugin and by whether they are ready. */
  counts(): readonly VolumeCount[];
  /** Of the last sweep for directories of pods that no longer exist. */
  readonly orphans: OrphanSweep['counts'];
}

export interface VolumesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kinds: readonly VolumeKind[];
  /** For volumes whose kind is not named in the pod. */
  readonly resolvers?: readonly VolumeResolver[];
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly leadsToForeign: (path: string) => boolean;
  readonly podDirectory: (uid: PodUid) => string;
  readonly record: RecordPodEvent;
  /** Undefined: a node without an API server. */
  readonly attachments?: NodeAttachments;
  readonly podDirectories: PodDirectoriesPort;
  /** For metrics. */
  readonly onOperation?: (operation: VolumeOperation) => void;
  /** The progress of a volume of this pod has changed: one was made or has to wait. */
  readonly onProgress?: (uid: PodUid) => void;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** What a node's status says about volumes: the API server's object of this node fits. */
export interface AttachmentStatus {
  readonly volumesAttached?: readonly { readonly name: string; readonly devicePath: string }[];
  readonly volumesInUse?: readonly string[];
}

/** As this node's object says. */
export function nodeAttachments(status: () => AttachmentStatus | undefined): NodeAttachments {
  return {
    attached: () => new Map(status()?.volumesAttached?.map(({ name, devicePath }) => [name, devicePath])),
    reportedInUse: () => new Set(status()?.volumesInUse),
  };
}

export interface VolumesConfig {
  /** `enableControllerAttachDetach`. */
  readonly attachedByController: boolean;
  /** `syncFrequency`: volumes that show objects are compared that often at least; ms. */
  readonly syncMs: number;
  /** `volumeStatsAggPeriod`; not positive: never. */
  readonly usagePeriodMs: number;
}

/** Comparisons are spread over half a period more, so that they don't all come at once. */
const RESYNC_SPREAD = 0.5;

export function createVolumes(deps: VolumesDeps, config: VolumesConfig): Volumes {
  const { clock, jobs } = deps;
  const operations = createOperations(clock, deps.onOperation ?? (() => undefined));
  const devices = createDevices({ ...deps, operations }, config);
  const subPaths = createSubPaths(deps);
  const resolvers = createResolvers(deps.kinds, deps.resolvers ?? []);
  const table = createPodTable({
    ...deps,
    resolve: resolvers.resolve,
    devices,
    operations,
    onSettled: (uid) => {
      usage.noticed();
      deps.onProgress?.(uid);
    },
    resyncMs: () => config.syncMs * (1 + RESYNC_SPREAD * deps.random()),
  });
  const { pods } = table;
  const usage = createUsage({ ...deps, operations, volumes: table.tasks }, config);
  const sweep = createOrphanSweep(deps, deps.podDirectories);
  const cleanUp = createCleanUp({ ...deps, operations, pods, devices, subPaths });

  return {
    name: 'volumes',
    start: (signal) => {
      usage.start(signal);
      sweep.start(signal);
    },
    stop: async () => {
      const reason = new CodedError('unavailable', 'the kubelet is stopping');
      await Promise.all([...pods.values()].map((pod) => pod.stop(reason)));
      jobs.close();
    },
    prefetch: (pod, signal) => {
      // Once: what fails then is retried at the pace of the volume.
      if (pods.has(pod.metadata.uid as PodUid)) return;
      for (const volume of pod.spec.volumes ?? []) resolvers.prefetch(pod, volume, signal);
    },
    ensure: async (pod, signal) => {
      const outcome = await table.adopt(pod, 'started').whenReady(signal);
      if (outcome.kind === 'late') return { kind: 'waiting', reason: 'FailedMount', message: outcome.message };
      return { kind: 'ready', mounts: mountsOf(outcome.volumes) };
    },
    cleanUp: async (uid, signal) => {
      await cleanUp(uid, signal);
      table.forget(uid);
      usage.forget(uid);
    },
    follow: (update) => {
      if (update.kind === 'gone') sweep.noticed();
      else follow(table, update.view);
    },
    changed: (object) => {
      for (const pod of pods.values()) pod.changed(object);
    },
    attachmentsChanged: () => {
      for (const { task } of table.tasks()) if (task.unattached()) task.changed();
    },
    volumesInUse: () => {
      const names = volumesInUse(table.tasks().map(({ task }) => task.resolved()?.uniqueName));
      return names.length === 0 ? undefined : names;
    },
    progress: (uid) => pods.get(uid)?.progress() ?? [],
    subPaths,
    readFile: (path, file, signal) =>
      jobs.run({ kind: 'read', path, file }, { foreign: deps.leadsToForeign(path), signal }),
    usage,
    counts: () =>
      countVolumes(
        table.tasks().map(({ task }) => ({
          plugin: task.resolved()?.kind.plugin,
          ready: task.ready() !== undefined,
        })),
      ),
    orphans: sweep.counts,
  };
}

type FollowedView = Pick<PodView, 'uid' | 'pod' | 'step' | 'observation'>;

/** A pod that runs and whose volumes were not made here was started by an earlier kubelet. */
function follow(table: PodTable, { uid, pod, step, observation }: FollowedView): void {
  if (step !== 'syncing') return;
  const runs = observation.containers.some(({ state }) => state === 'running');
  if (runs) for (const task of table.adopt(pod, 'found').tasks) task.look();
  else table.pods.get(uid)?.update(pod);
}
