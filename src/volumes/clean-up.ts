/** Removes the volumes of a pod that has ended: all that is on disk, also what an earlier kubelet made, so that a restart changes nothing. */
import type { PodUid } from '../api/ids.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import type { MountTable } from '../host/mount-table.ts';
import type { Devices } from './devices.ts';
import { type FoundVolume, findVolumes } from './disk.ts';
import type { VolumeKind } from './kind.ts';
import type { Operations } from './operations.ts';
import type { PodVolumes } from './pod-volumes.ts';
import type { SubPaths } from './sub-paths.ts';

export interface CleanUpDeps {
  readonly kinds: readonly VolumeKind[];
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly podDirectory: (uid: PodUid) => string;
  readonly operations: Operations;
  /** All that are known now, with the one that has ended. */
  readonly pods: ReadonlyMap<PodUid, PodVolumes>;
  readonly devices: Devices;
  readonly subPaths: SubPaths;
}

export type CleanUp = (uid: PodUid, signal: AbortSignal) => Promise<void>;

export function createCleanUp(deps: CleanUpDeps): CleanUp {
  const { kinds, operations, pods, subPaths } = deps;

  const tearDown = async (found: FoundVolume, signal: AbortSignal): Promise<void> => {
    const { plugin } = found;
    const kind = kinds.find((one) => one.plugin === plugin);
    if (kind === undefined) {
      const work = () => removeUnknown(deps, found, signal);
      await operations.run({ plugin, operation: 'force_clean', work }, signal);
    } else {
      const work = () => kind.tearDown(found, signal);
      await operations.run({ plugin, operation: 'volume_unmount', work }, signal);
    }
  };

  const countReconstructed = (found: readonly FoundVolume[]): void => {
    const known = new Set(kinds.map(({ plugin }) => plugin));
    for (const { plugin } of found) {
      operations.report({ plugin, operation: 'reconstruct', seconds: 0, failed: !known.has(plugin) });
    }
  };

  return async (uid, signal) => {
    const left = pods.get(uid);
    await left?.stop(new CodedError('gone', 'the pod has ended'));
    await subPaths.clean(uid, signal);
    const found = await findVolumes(uid, deps.podDirectory(uid));
    if (left === undefined) countReconstructed(found);
    const outcomes = await Promise.allSettled(found.map((one) => tearDown(one, signal)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new CodedError('conflict', failures.map(describeError).join('; '));
    if (left !== undefined) await releaseDevices(deps, uid, left, signal);
  };
}

/** Made by a kubelet that knew more kinds. While it is mounted it stays: the files beside its mount are needed to unmount it. */
async function removeUnknown(
  { jobs, mountTable }: CleanUpDeps,
  { plugin, name, directory: path }: FoundVolume,
  signal: AbortSignal,
): Promise<void> {
  const mounted = mountTable(path)
    .map(({ point }) => point)
    .filter((point) => point === path || point.startsWith(`${path}/`));
  if (mounted.length > 0) {
    const why = `this kubelet does not know volumes of ${plugin}, and it is mounted at ${mounted.join(', ')}`;
    throw new CodedError('conflict', `failed to remove volume ${name}: ${why}`);
  }
  await jobs.run({ kind: 'remove', path }, { foreign: false, signal });
}

async function releaseDevices(
  { pods, devices }: CleanUpDeps,
  uid: PodUid,
  left: PodVolumes,
  signal: AbortSignal,
): Promise<void> {
  const others = [...pods].filter(([other]) => other !== uid).flatMap(([, { tasks }]) => tasks);
  const used = new Set(others.map((task) => task.resolved()?.uniqueName));
  for (const task of left.tasks) {
    const volume = task.resolved();
    if (volume?.uniqueName === undefined || used.has(volume.uniqueName)) continue;
    await devices.release(volume.kind, volume.uniqueName, signal);
  }
}
