/**
 * What volumes take on their disks, measured now and then and kept: who asks gets the last answer at once. One volume after the
 * other; small ones a little at a time, large ones in a process of their own (see host/file-jobs.ts).
 */
import type { PodUid } from '../api/ids.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { DiskUse } from '../host/file-job.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import { isForeign, type MountEntry, type MountTable, mountAt, mountsBelow } from '../host/mount-table.ts';
import { bytesOf } from './rules/empty-dir.ts';
import { FIRST_MEASURE_MS, nextMeasure } from './rules/measure.ts';
import type { VolumeOperation, VolumeTask } from './volume.ts';

export interface VolumeUse extends DiskUse {
  readonly volume: string;
  /** When it was measured, wall clock. */
  readonly time: number;
  /** `sizeLimit` of an emptyDir; undefined where it has none. */
  readonly limitBytes: number | undefined;
}

export interface Usage {
  start(signal: AbortSignal): void;
  /** A volume is there that wasn't before. */
  noticed(): void;
  /** The last measured use of each volume of the pod that is measured at all. */
  of(uid: PodUid): readonly VolumeUse[];
  /** emptyDirs that are larger than their limit: their pods are to be evicted. */
  overLimit(): readonly { readonly uid: PodUid; readonly use: VolumeUse }[];
  forget(uid: PodUid): void;
}

export interface UsageDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly volumes: () => readonly { readonly uid: PodUid; readonly task: VolumeTask }[];
  readonly onOperation: (operation: VolumeOperation) => void;
}

/** Paths of the node and images are no one's here to measure. */
const UNMEASURED = new Set(['kubernetes.io/host-path', 'kubernetes.io/image', 'kubernetes.io/unknown']);
const MEASURE_WITHIN_MS = 60_000;
const SAME_LOOK_MS = 500;
/** Between the end of one round and the next, at least. */
const PAUSE_MS = 1000;

export function createUsage(deps: UsageDeps, { usagePeriodMs }: { readonly usagePeriodMs: number }): Usage {
  const { clock, log } = deps;
  const uses = new Map<PodUid, Map<string, VolumeUse>>();
  const tried = new Map<VolumeTask, number>();

  let looked: { readonly at: number; readonly table: readonly MountEntry[] } | undefined;
  /** Many volumes are due at the same time, and with many pods the table is long: it is read once for those of a moment. */
  const mounts = (): readonly MountEntry[] => {
    if (looked === undefined || clock.mono() - looked.at > SAME_LOOK_MS) {
      looked = { at: clock.mono(), table: deps.mountTable() };
    }
    return looked.table;
  };

  const mayHang = (task: VolumeTask, path: string): boolean => {
    const table = mounts();
    const around = [mountAt(table, path), ...mountsBelow(table, path)].filter((entry) => entry !== undefined);
    return task.kind.foreign === true || around.some(isForeign);
  };

  const measure = async (
    { uid, task, path, foreign }: { uid: PodUid; task: VolumeTask; path: string; foreign: boolean },
    signal: AbortSignal,
  ): Promise<void> => {
    const began = clock.mono();
    const tell = (failed: boolean) =>
      deps.onOperation({
        plugin: task.kind.plugin,
        operation: 'measure',
        seconds: (clock.mono() - began) / 1000,
        failed,
      });
    try {
      const use = await deps.jobs.run(
        { kind: 'measure', path },
        { foreign, signal, ...(foreign ? { deadlineMs: MEASURE_WITHIN_MS } : {}) },
      );
      tell(false);
      const limit = task.volume.emptyDir?.sizeLimit;
      const limitBytes = limit === undefined ? undefined : Number(bytesOf(limit) ?? 0n) || undefined;
      const time = clock.now();
      const ofPod = uses.get(uid) ?? new Map<string, VolumeUse>();
      uses.set(uid, ofPod.set(task.volume.name, { volume: task.volume.name, time, limitBytes, ...use }));
    } catch (error) {
      if (signal.aborted) return;
      tell(true);
      log.v(2)?.info('A volume could not be measured', { podUID: uid, volume: task.volume.name, err: error });
    }
  };

  const measurable = () => deps.volumes().filter(({ task }) => !UNMEASURED.has(task.kind.plugin));

  /** When the next one is due; undefined where there is none. */
  const sweep = async (signal: AbortSignal): Promise<number | undefined> => {
    const all = measurable();
    const known = new Set(all.map(({ task }) => task));
    for (const task of tried.keys()) if (!known.has(task)) tried.delete(task);
    const dueAt = (task: VolumeTask) =>
      nextMeasure({ readySince: task.readySince(), measuredAt: tried.get(task), periodMs: usagePeriodMs });
    for (const { uid, task } of all) {
      const due = dueAt(task);
      const path = task.ready()?.path;
      if (due === undefined || due > clock.now() || path === undefined) continue;
      tried.set(task, clock.now());
      const foreign = mayHang(task, path);
      const done = measure({ uid, task, path, foreign }, signal);
      // No one waits for one that may hang.
      if (!foreign) await done;
      if (signal.aborted) break;
    }
    looked = undefined;
    const next = measurable()
      .map(({ task }) => dueAt(task))
      .filter((time) => time !== undefined);
    return next.length === 0 ? undefined : Math.max(Math.min(...next), clock.now() + PAUSE_MS);
  };

  let stopping: AbortSignal | undefined;
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  const pass = async (signal: AbortSignal): Promise<void> => {
    const next = await sweep(signal);
    if (next !== undefined && !signal.aborted) alarm.ringAt(next);
  };

  return {
    start: (signal) => {
      if (usagePeriodMs <= 0) return;
      stopping = signal;
      signal.addEventListener('abort', alarm.clear, { once: true });
      alarm.ringAt(clock.now() + PAUSE_MS);
      void deps.supervisor.run({ name: 'volume usage', restFirst: true, pass, rest: bit.wait }, signal);
    },
    noticed: () => {
      if (stopping !== undefined && !stopping.aborted) alarm.ringAt(clock.now() + FIRST_MEASURE_MS);
    },
    of: (uid) => [...(uses.get(uid)?.values() ?? [])],
    overLimit: () =>
      [...uses].flatMap(([uid, ofPod]) =>
        [...ofPod.values()]
          .filter(({ limitBytes, usedBytes }) => limitBytes !== undefined && usedBytes > limitBytes)
          .map((use) => ({ uid, use })),
      ),
    forget: (uid) => uses.delete(uid),
  };
}
