/** The volumes of one pod: made at the same time, each by itself, and waited for together. */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { linkSignal } from '../base/signal.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import type { ObjectReference, VolumeReady } from './kind.ts';
import { volumesNotReady } from './rules/messages.ts';
import type { VolumeTask } from './volume.ts';

export interface PodVolumes {
  readonly tasks: readonly VolumeTask[];
  pod(): Pod;
  update(pod: Pod): void;
  /** Resolves when all are ready, or when it has taken too long. */
  whenReady(signal: AbortSignal): Promise<WaitOutcome>;
  /** Makes those again that show this object. */
  changed(object: ObjectReference): void;
  /** An operation of one of them has ended: those who wait for all of them look again. */
  settled(): void;
  progress(): readonly VolumeProgress[];
  stop(reason: unknown): Promise<void>;
}

export type WaitOutcome =
  | { readonly kind: 'ready'; readonly volumes: ReadonlyMap<string, VolumeReady> }
  | { readonly kind: 'late'; readonly message: string };

const WAIT_MS = 123_000;

export function createPodVolumes(
  clock: Clock,
  start: { readonly pod: Pod; readonly tasks: readonly VolumeTask[] },
): PodVolumes {
  const { tasks } = start;
  const waiting = new Set<() => void>();
  let pod = start.pod;

  const allReady = (): ReadonlyMap<string, VolumeReady> | undefined => {
    const volumes = new Map<string, VolumeReady>();
    for (const task of tasks) {
      const ready = task.ready();
      if (ready === undefined) return undefined;
      volumes.set(task.volume.name, ready);
    }
    return volumes;
  };

  const lateMessage = (): string => {
    const unready = tasks.filter((task) => task.ready() === undefined);
    const names = (some: readonly VolumeTask[]) => some.map(({ volume }) => volume.name);
    return volumesNotReady({
      unmounted: names(unready),
      unattached: names(unready.filter((task) => task.unattached())),
      unprocessed: names(unready.filter((task) => task.resolved() === undefined)),
      reason: 'context deadline exceeded',
    });
  };

  const whenReady = async (signal: AbortSignal): Promise<WaitOutcome> => {
    for (const task of tasks) {
      task.recheck();
      task.look();
    }
    const ready = allReady();
    if (ready !== undefined) return { kind: 'ready', volumes: ready };
    using wait = linkSignal(signal);
    return await new Promise((resolve, reject) => {
      const done = (then: () => void) => {
        waiting.delete(look);
        wait.abort('done');
        then();
      };
      const look = () => {
        const volumes = allReady();
        if (volumes !== undefined) done(() => resolve({ kind: 'ready', volumes }));
      };
      waiting.add(look);
      clock.sleep(WAIT_MS, wait.signal).then(
        () => done(() => resolve({ kind: 'late', message: lateMessage() })),
        () => {
          if (signal.aborted) done(() => reject(signal.reason));
        },
      );
    });
  };

  return {
    tasks,
    pod: () => pod,
    update: (next) => {
      pod = next;
      for (const task of tasks) task.update(next);
    },
    whenReady,
    changed: (object) => {
      for (const task of tasks) {
        const references = task.resolved()?.kind.dependsOn?.(pod, task.volume) ?? [];
        if (references.some((reference) => isSame(reference, object))) task.changed();
      }
    },
    settled: () => {
      for (const look of [...waiting]) look();
    },
    progress: () => tasks.map((task) => task.progress()).filter((one) => one !== undefined),
    stop: async (reason) => {
      await Promise.all(tasks.map((task) => task.stop(reason)));
    },
  };
}

function isSame(reference: ObjectReference, object: ObjectReference): boolean {
  return (
    reference.kind === object.kind &&
    reference.namespace === object.namespace &&
    (reference.name === '' || object.name === '' || reference.name === object.name)
  );
}
