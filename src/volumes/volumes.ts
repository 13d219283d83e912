/**
 * The volumes of the pods on this node: made before their containers start, kept up to date while they run, taken away after.
 * What is on disk and in the mount table is the truth; nothing else is remembered over a restart.
 */

import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import type { MountTable } from '../host/mount-table.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { MountedVolume, VolumesOutcome } from '../model/mounted-volume.ts';
import type { PodNewsOf } from '../model/pod-view.ts';
import { createCleanUp } from './clean-up.ts';
import { createDevices, type NodeAttachments, stageOf } from './devices.ts';
import type { ObjectReference, VolumeKind, VolumeReady } from './kind.ts';
import { createPodVolumes, type PodVolumes } from './pod-volumes.ts';
import { volumesInUse } from './rules/attachment.ts';
import { volumeFailed } from './rules/messages.ts';
import { volumeDirectory } from './rules/places.ts';
import { volumeKind } from './rules/volume-kind.ts';
import { createSubPaths, type SubPaths } from './sub-paths.ts';
import { createUsage, type Usage } from './usage.ts';
import { createVolumeTask, type VolumeOperation, type VolumeTaskDeps } from './volume.ts';

export interface Volumes extends Part {
  /** A pod is about to start: what its volumes need from elsewhere is fetched meanwhile. */
  foresee(pod: Pod, signal: AbortSignal): void;
  /** Makes what is missing and waits for it; asking again for what is there changes nothing. */
  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome>;
  /** Lets go of everything that must not be left in the pod's directory. Fails where something can't be taken away: ask again then. */
  cleanUp(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Hears of pods: those that run already are kept up to date, those that are gone are forgotten. */
  follow(news: PodNewsOf<'uid' | 'pod' | 'step' | 'observation'>): void;
  /** An object has changed: files that show it are written anew. */
  changed(object: ObjectReference): void;
  /** The node's status says something else about attached volumes: who waits for one looks again. */
  attachmentsChanged(): void;
  /** For the node's status; undefined where none is in use that could be detached, and the status stays as it is. */
  volumesInUse(): readonly string[] | undefined;
  readonly subPaths: SubPaths;
  /** The text of a file of a volume; links that lead out of it are refused. */
  readFile(volumePath: string, file: string, signal: AbortSignal): Promise<string>;
  readonly usage: Usage;
  /** How many volumes there are, by plugin and by whether they are ready. */
  counts(): readonly VolumeCount[];
}

export interface VolumeCount {
  readonly plugin: string;
  readonly state: 'desired' | 'actual';
  readonly count: number;
}

export interface VolumesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kinds: readonly VolumeKind[];
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly leadsToForeign: (path: string) => boolean;
  readonly podDirectory: (uid: PodUid) => string;
  readonly record: RecordPodEvent;
  /** Undefined: a node without an API server. */
  readonly attachments?: NodeAttachments;
  /** For metrics. */
  readonly onOperation?: (operation: VolumeOperation) => void;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** What of a node's status is about volumes: the API server's object of this node fits. */
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

/** Passes spread over half a period more, so that they don't come all at once. */
const RESYNC_SPREAD = 0.5;

export function createVolumes(deps: VolumesDeps, config: VolumesConfig): Volumes {
  const { clock, log, kinds, podDirectory } = deps;
  const pods = new Map<PodUid, PodVolumes>();
  const devices = createDevices(deps.attachments, { byController: config.attachedByController });
  const subPaths = createSubPaths({ ...deps, log });
  const onOperation = deps.onOperation ?? (() => undefined);
  const allTasks = () => [...pods].flatMap(([uid, { tasks }]) => tasks.map((task) => ({ uid, task })));
  const usage = createUsage(
    {
      clock,
      log,
      supervisor: deps.supervisor,
      jobs: deps.jobs,
      mountTable: deps.mountTable,
      volumes: allTasks,
      onOperation,
    },
    config,
  );

  const kindOf = (volume: Volume) => kinds.find((kind) => kind.handles(volume)) ?? UNKNOWN;

  const taskDeps = (uid: PodUid): VolumeTaskDeps => ({
    clock,
    guard: (call) => deps.supervisor.guard('volumes', { podUID: uid }, call),
    prepare: devices.ensure,
    onSettled: () => {
      pods.get(uid)?.settled();
      usage.noticed();
    },
    onFailed: ({ metadata: pod }, { name }, error) => {
      log.v(2)?.info('A volume could not be made', { podUID: uid, volume: name, err: error });
      deps.record({ pod, type: 'Warning', ...volumeFailed(stageOf(error), name, describeError(error)) });
    },
    onOperation,
    resyncMs: () => config.syncMs * (1 + RESYNC_SPREAD * deps.random()),
  });

  const adopt = (pod: Pod): PodVolumes => {
    const uid = pod.metadata.uid as PodUid;
    const known = pods.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return known;
    }
    const directory = podDirectory(uid);
    const tasks = (pod.spec.volumes ?? []).map((volume) => {
      const kind = kindOf(volume);
      const place = volumeDirectory(directory, kind.plugin, volume.name);
      return createVolumeTask(taskDeps(uid), { pod, volume, kind, directory: place });
    });
    const made = createPodVolumes(clock, { pod, tasks, unknown: UNKNOWN });
    pods.set(uid, made);
    return made;
  };

  const cleanUp = createCleanUp({ ...deps, onOperation, pods, devices, subPaths });

  return {
    name: 'volumes',
    start: usage.start,
    stop: async () => {
      await Promise.all(
        [...pods.values()].map((pod) => pod.stop(new CodedError('unavailable', 'the kubelet is stopping'))),
      );
      deps.jobs.close();
    },
    foresee: (pod, signal) => {
      // Once: what then fails is tried again at the pace of the volume.
      if (pods.has(pod.metadata.uid as PodUid)) return;
      for (const volume of pod.spec.volumes ?? []) kindOf(volume).foresee?.(pod, volume, signal);
    },
    ensure: async (pod, signal) => {
      const outcome = await adopt(pod).whenReady(signal);
      if (outcome.kind === 'late') return { kind: 'waiting', reason: 'FailedMount', message: outcome.message };
      return { kind: 'ready', mounts: mountsOf(outcome.volumes) };
    },
    cleanUp: async (uid, signal) => {
      await cleanUp(uid, signal);
      pods.delete(uid);
      usage.forget(uid);
    },
    follow: (news) => {
      if (news.kind === 'gone') return;
      const { uid, pod, step, observation } = news.view;
      if (step !== 'syncing') return;
      const runs = observation.containers.some(({ state }) => state === 'running');
      if (!runs) {
        pods.get(uid)?.update(pod);
        return;
      }
      // It runs and no one here has made its volumes: an earlier kubelet did.
      const isFound = !pods.has(uid);
      for (const task of adopt(pod).tasks) {
        if (isFound) onOperation({ plugin: task.kind.plugin, operation: 'reconstruct', seconds: 0, failed: false });
        task.look();
      }
    },
    changed: (object) => {
      for (const pod of pods.values()) pod.changed(object);
    },
    attachmentsChanged: () => {
      for (const { task } of allTasks()) if (task.unattached()) task.changed();
    },
    volumesInUse: () => {
      const names = volumesInUse(allTasks().map(({ task }) => task.uniqueName()));
      return names.length === 0 ? undefined : names;
    },
    subPaths,
    readFile: (path, file, signal) =>
      deps.jobs.run({ kind: 'read', path, file }, { foreign: deps.leadsToForeign(path), signal }),
    usage,
    counts: () => countVolumes(allTasks().map(({ task }) => task)),
  };
}

/** Stands for every kind that no one here knows: its pod waits and says why. */
const UNKNOWN: VolumeKind = {
  plugin: 'kubernetes.io/unknown',
  handles: () => true,
  setUp: ({ volume }) =>
    Promise.reject(new CodedError('unsupported', `volumes of kind ${volumeKind(volume)} are not supported yet`)),
  tearDown: () => Promise.resolve(),
};

function mountsOf(volumes: ReadonlyMap<string, VolumeReady>): ReadonlyMap<string, MountedVolume> {
  const mounts = new Map<string, MountedVolume>();
  for (const [name, { path, readOnly, selinuxRelabel }] of volumes) {
    if (path === undefined) continue; // the runtime mounts it
    mounts.set(name, {
      hostPath: path,
      ...(readOnly === undefined ? {} : { readOnly }),
      ...(selinuxRelabel === undefined ? {} : { selinuxRelabel }),
    });
  }
  return mounts;
}

function countVolumes(
  tasks: readonly { readonly kind: VolumeKind; readonly ready: () => VolumeReady | undefined }[],
): readonly VolumeCount[] {
  const plugins = [...new Set(tasks.map(({ kind }) => kind.plugin))].sort();
  return plugins.flatMap((plugin): readonly VolumeCount[] => {
    const own = tasks.filter(({ kind }) => kind.plugin === plugin);
    const actual = own.filter(({ ready }) => ready() !== undefined).length;
    return [
      { plugin, state: 'desired', count: own.length },
      { plugin, state: 'actual', count: actual },
    ];
  });
}
