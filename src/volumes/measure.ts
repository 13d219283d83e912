/** Measures one volume: a small one a little at a time, a large one in its own process (see host/file-jobs.ts). */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { DiskUse } from '../host/file-job.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import { isForeign, type MountEntry, type MountTable, mountAt, mountsBelow } from '../host/mount-table.ts';
import type { Operations } from './operations.ts';

export interface MeasuredVolume {
  readonly uid: PodUid;
  readonly name: string;
  readonly plugin: string;
  readonly path: string;
  /** It is on a file system that may hang. */
  readonly foreign: boolean;
}

export interface Measure {
  /** Undefined where it failed or was aborted. */
  measure(volume: MeasuredVolume, signal: AbortSignal): Promise<DiskUse | undefined>;
  /** A file system at this path or below it may hang. */
  mayHang(path: string): boolean;
  /** The mount table is read again. */
  forgetMounts(): void;
}

export interface MeasureDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  readonly operations: Operations;
}

const MEASURE_WITHIN_MS = 60_000;
const SAME_TABLE_MS = 500;

export function createMeasure({ clock, log, jobs, mountTable, operations }: MeasureDeps): Measure {
  let read: { readonly at: number; readonly table: readonly MountEntry[] } | undefined;
  /** Many volumes are due at the same time, and with many pods the table is long: it is read once for all of them. */
  const mounts = (): readonly MountEntry[] => {
    if (read === undefined || clock.mono() - read.at > SAME_TABLE_MS) read = { at: clock.mono(), table: mountTable() };
    return read.table;
  };

  return {
    measure: async ({ uid, name, plugin, path, foreign }, signal) => {
      const limits = { foreign, signal, ...(foreign ? { deadlineMs: MEASURE_WITHIN_MS } : {}) };
      const work = () => jobs.run({ kind: 'measure', path }, limits);
      try {
        return await operations.run({ plugin, operation: 'measure', work }, signal);
      } catch (error) {
        if (!signal.aborted) {
          log.v(2)?.info('Failed to calculate volume metrics', { podUID: uid, volumeName: name, err: error });
        }
        return undefined;
      }
    },
    mayHang: (path) => {
      const table = mounts();
      return [mountAt(table, path), ...mountsBelow(table, path)].some(
        (entry) => entry !== undefined && isForeign(entry),
      );
    },
    forgetMounts: () => {
      read = undefined;
    },
  };
}
