/** Takes away the volumes of a pod that is over: what is on disk counts, whoever made it, so that a restart changes nothing. */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import type { MountTable } from '../host/mount-table.ts';
import type { Devices } from './devices.ts';
import { type FoundVolume, findVolumes } from './disk.ts';
import type { VolumeKind } from './kind.ts';
import type { PodVolumes } from './pod-volumes.ts';
import type { SubPaths } from './sub-paths.ts';
import type { VolumeOperation } from './volume.ts';

export interface CleanUpDeps {
  readonly clock: Clock;
  readonly kinds: readonly VolumeKind[];
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly podDirectory: (uid: PodUid) => string;
  readonly onOperation: (operation: VolumeOperation) => void;
  /** All that are known now, the one that is over among them. */
  readonly pods: ReadonlyMap<PodUid, PodVolumes>;
  readonly devices: Devices;
  readonly subPaths: SubPaths;
}

export type CleanUp = (uid: PodUid, signal: AbortSignal) => Promise<void>;

export function createCleanUp(deps: CleanUpDeps): CleanUp {
  const { clock, kinds, pods, subPaths } = deps;

  const tearDown = async (found: FoundVolume, signal: AbortSignal): Promise<void> => {
    const { plugin } = found;
    const kind = kinds.find((one) => one.plugin === plugin);
    const began = clock.mono();
    const tell = (failed: boolean) =>
      deps.onOperation({ plugin, operation: 'volume_unmount', seconds: (clock.mono() - began) / 1000, failed });
    try {
      if (kind === undefined) await removeUnknown(deps, found, signal);
      else await kind.tearDown(found, signal);
      tell(false);
    } catch (error) {
      tell(true);
      throw error;
    }
  };

  return async (uid, signal) => {
    const left = pods.get(uid);
    await left?.stop(new CodedError('gone', 'the pod is over'));
    await subPaths.clean(uid, signal);
    const found = await findVolumes(uid, deps.podDirectory(uid));
    if (left === undefined) {
      const known = new Set(kinds.map(({ plugin }) => plugin));
      for (const { plugin } of found) {
        deps.onOperation({ plugin, operation: 'reconstruct', seconds: 0, failed: !known.has(plugin) });
      }
    }
    const outcomes = await Promise.allSettled(found.map((one) => tearDown(one, signal)));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new CodedError('conflict', failures.map(describeError).join('; '));
    if (left !== undefined) await releaseDevices(deps, uid, left, signal);
  };
}

/** Left by a kubelet that knew more kinds: what lies beside its mount is needed to unmount it. */
async function removeUnknown(
  { jobs, mountTable }: CleanUpDeps,
  { plugin, name, directory: path }: FoundVolume,
  signal: AbortSignal,
): Promise<void> {
  const mounted = mountTable(path)
    .map(({ point }) => point)
    .filter((point) => point === path || point.startsWith(`${path}/`));
  if (mounted.length > 0) {
    const why = `no one here knows volumes of ${plugin}, and it is mounted at ${mounted.join(', ')}`;
    throw new CodedError('conflict', `volume ${name} can't be removed: ${why}`);
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
  const used = new Set(others.map((task) => task.uniqueName()));
  for (const { kind, uniqueName } of left.tasks) {
    const name = uniqueName();
    if (name !== undefined && !used.has(name)) await devices.release(kind, name, signal);
  }
}
