/** What volumes use on their disks: measured one after the other at a slow pace and kept, so that every request is answered at once. */
import type { PodUid } from '../api/ids.ts';
import type { Volume } from '../api/volume.ts';
import { type Alarm, createAlarm } from '../base/alarm.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { DiskUse } from '../host/file-job.ts';
import { createMeasure, type Measure, type MeasureDeps } from './measure.ts';
import { bytesOf } from './rules/empty-dir.ts';
import { FIRST_MEASURE_MS, nextMeasure } from './rules/measure.ts';
import type { VolumeTask } from './volume.ts';

export interface VolumeUse extends DiskUse {
  readonly volume: string;
  /** When it was measured, wall clock. */
  readonly time: number;
  /** `sizeLimit` of an emptyDir; undefined where it has none. */
  readonly limitBytes: number | undefined;
}

export interface Usage {
  start(signal: AbortSignal): void;
  /** There may be a new volume. */
  noticed(): void;
  /** The last measured use of each volume of the pod that is measured at all. */
  of(uid: PodUid): readonly VolumeUse[];
  /** Measures the volumes that can't hang again, if that was not done in the last seconds. Resolves when it is done, or after a while. */
  renew(signal: AbortSignal): Promise<void>;
  forget(uid: PodUid): void;
}

export interface UsageDeps extends MeasureDeps {
  readonly supervisor: Supervisor;
  readonly volumes: () => readonly PodTask[];
}

interface PodTask {
  readonly uid: PodUid;
  readonly task: Pick<VolumeTask, 'volume' | 'resolved' | 'ready' | 'readySince'>;
}

type Uses = Map<PodUid, Map<string, VolumeUse>>;

/** Paths of the node and images are not measured. */
const UNMEASURED = new Set(['kubernetes.io/host-path', 'kubernetes.io/image']);
/** Between the end of one pass and the next, at least. */
const PAUSE_MS = 1000;
/** Younger measures are not renewed. */
const FRESH_MS = 2000;
/** For all volumes together: who asks is about to evict a pod. */
const RENEW_WITHIN_MS = 3000;

export function createUsage(deps: UsageDeps, { usagePeriodMs }: { readonly usagePeriodMs: number }): Usage {
  const { clock } = deps;
  const uses: Uses = new Map();
  const { pass, renew } = createPasses(deps, createMeasure(deps), { uses, periodMs: usagePeriodMs });
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let stopping: AbortSignal | undefined;

  return {
    start: (signal) => {
      if (usagePeriodMs <= 0) return;
      stopping = signal;
      signal.addEventListener('abort', alarm.clear, { once: true });
      alarm.ringAt(clock.now() + PAUSE_MS);
      const run = (own: AbortSignal) => pass(alarm, own);
      void deps.supervisor.run({ name: 'volume usage', restFirst: true, pass: run, rest: bit.wait }, signal);
    },
    noticed: () => {
      if (stopping !== undefined && !stopping.aborted) alarm.ringAt(clock.now() + FIRST_MEASURE_MS);
    },
    of: (uid) => [...(uses.get(uid)?.values() ?? [])],
    renew: async (signal) => {
      if (usagePeriodMs > 0) await renew(signal);
    },
    forget: (uid) => uses.delete(uid),
  };
}

interface Passes {
  /** Measures the volumes that are due, and sets the alarm for the next ones. */
  pass(alarm: Alarm, signal: AbortSignal): Promise<void>;
  renew(signal: AbortSignal): Promise<void>;
}

function createPasses(
  { clock, volumes }: UsageDeps,
  { measure, mayHang, forgetMounts }: Measure,
  { uses, periodMs }: { readonly uses: Uses; readonly periodMs: number },
): Passes {
  const triedAt = new Map<PodTask['task'], number>();

  const measurable = () => volumes().filter(({ task }) => !UNMEASURED.has(pluginOf(task)));
  const dueAt = (task: PodTask['task']) =>
    nextMeasure({ readySince: task.readySince(), measuredAt: triedAt.get(task), periodMs });

  const measureOne = async ({ uid, task }: PodTask, path: string, foreign: boolean, signal: AbortSignal) => {
    const { name } = task.volume;
    const use = await measure({ uid, name, plugin: pluginOf(task), path, foreign }, signal);
    // The pod may have ended meanwhile.
    if (use === undefined || !volumes().some((one) => one.task === task)) return;
    const ofPod = uses.get(uid) ?? new Map<string, VolumeUse>();
    uses.set(uid, ofPod.set(name, { volume: name, time: clock.now(), limitBytes: limitOf(task.volume), ...use }));
  };

  const measureDue = async (signal: AbortSignal): Promise<void> => {
    const all = measurable();
    const known = new Set(all.map(({ task }) => task));
    for (const task of triedAt.keys()) if (!known.has(task)) triedAt.delete(task);
    for (const one of all) {
      const due = dueAt(one.task);
      const path = one.task.ready()?.path;
      if (due === undefined || due > clock.now() || path === undefined) continue;
      triedAt.set(one.task, clock.now());
      const foreign = mayHang(path) || one.task.resolved()?.kind.foreign === true;
      const done = measureOne(one, path, foreign, signal);
      // One that may hang is not waited for.
      if (!foreign) await done;
      if (signal.aborted) return;
    }
  };

  const renewAll = async (signal: AbortSignal): Promise<void> => {
    for (const one of measurable()) {
      const path = one.task.ready()?.path;
      const isFresh = clock.now() - (triedAt.get(one.task) ?? 0) < FRESH_MS;
      if (path === undefined || isFresh || mayHang(path) || one.task.resolved()?.kind.foreign === true) continue;
      triedAt.set(one.task, clock.now());
      await measureOne(one, path, false, signal);
      if (signal.aborted) return;
    }
  };

  return {
    pass: async (alarm, signal) => {
      await measureDue(signal);
      forgetMounts();
      const next = measurable()
        .map(({ task }) => dueAt(task))
        .filter((time) => time !== undefined);
      if (next.length > 0 && !signal.aborted) alarm.ringAt(Math.max(Math.min(...next), clock.now() + PAUSE_MS));
    },
    renew: async (signal) => {
      using within = linkSignal(signal);
      const late = clock.sleep(RENEW_WITHIN_MS, within.signal).catch(() => undefined); // all were measured before
      await Promise.race([renewAll(within.signal), late]);
      within.abort('the measures are done, or take too long');
      signal.throwIfAborted();
    },
  };
}

const pluginOf = (task: PodTask['task']): string => task.resolved()?.kind.plugin ?? '';

function limitOf({ emptyDir }: Volume): number | undefined {
  const limit = emptyDir?.sizeLimit;
  return limit === undefined ? undefined : Number(bytesOf(limit) ?? 0n) || undefined;
}
