/** The pods whose volumes are managed here, and the task of each of their volumes. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { Devices } from './devices.ts';
import type { Operations } from './operations.ts';
import { createPodVolumes, type PodVolumes } from './pod-volumes.ts';
import type { Resolve } from './resolve.ts';
import { volumeFailed } from './rules/messages.ts';
import { volumeDirectory } from './rules/places.ts';
import { createVolumeTask, type VolumeTask, type VolumeTaskDeps } from './volume.ts';

export interface PodTable {
  readonly pods: ReadonlyMap<PodUid, PodVolumes>;
  /** The volumes of this pod, from now on with this version of it. */
  adopt(pod: Pod, origin: Origin): PodVolumes;
  forget(uid: PodUid): void;
  tasks(): readonly { readonly uid: PodUid; readonly task: VolumeTask }[];
}

/** `found`: an earlier kubelet made its volumes, and the pod runs. */
export type Origin = 'started' | 'found';

export interface PodTableDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly podDirectory: (uid: PodUid) => string;
  readonly record: RecordPodEvent;
  readonly resolve: Resolve;
  readonly devices: Devices;
  readonly operations: Operations;
  /** A volume was made, or could not be. */
  readonly onSettled: (uid: PodUid) => void;
  readonly resyncMs: () => number;
}

export function createPodTable(deps: PodTableDeps): PodTable {
  const { clock, log, operations, podDirectory } = deps;
  const pods = new Map<PodUid, PodVolumes>();

  const taskDeps = (uid: PodUid, origin: Origin): VolumeTaskDeps => {
    const directory = podDirectory(uid);
    return {
      clock,
      guard: (call) => deps.supervisor.guard('volumes', { podUID: uid }, call),
      resolve: deps.resolve,
      directory: (plugin, name) => volumeDirectory(directory, plugin, name),
      devices: deps.devices,
      operations,
      onSettled: () => {
        pods.get(uid)?.settled();
        deps.onSettled(uid);
      },
      onResolved: ({ kind: { plugin } }) => {
        if (origin === 'found') operations.report({ plugin, operation: 'reconstruct', seconds: 0, failed: false });
      },
      onObstacle: ({ metadata: pod }, { name }, obstacle) => {
        const { stage, message } = obstacle;
        log.v(2)?.info('Volume is not ready, will retry', { podUID: uid, volumeName: name, stage, err: message });
        const event = volumeFailed(name, obstacle);
        if (event !== undefined) deps.record({ pod, type: 'Warning', ...event });
      },
      resyncMs: deps.resyncMs,
    };
  };

  return {
    pods,
    adopt: (pod, origin) => {
      const uid = pod.metadata.uid as PodUid;
      const known = pods.get(uid);
      if (known !== undefined) {
        known.update(pod);
        return known;
      }
      const own = taskDeps(uid, origin);
      const tasks = (pod.spec.volumes ?? []).map((volume) => createVolumeTask(own, { pod, volume }));
      const made = createPodVolumes(clock, { pod, tasks });
      pods.set(uid, made);
      return made;
    },
    forget: (uid) => {
      pods.delete(uid);
    },
    tasks: () => [...pods].flatMap(([uid, { tasks }]) => tasks.map((task) => ({ uid, task }))),
  };
}
