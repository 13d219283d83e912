/** Opens the files of one container's log, even if they are rotated or compressed in the meantime. */

import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing } from '../../base/errno.ts';
import type { GuardedFiles } from '../../host/guarded-files.ts';
import { compressedName, rotatedNames } from './rules/rotated-names.ts';

export interface OpenLog {
  readonly handle: FileHandle;
  readonly inode: number;
  readonly isCompressed: boolean;
  close(): Promise<void>;
}

export interface NextLog {
  readonly file: OpenLog;
  /** Undefined for the current file. */
  readonly name: string | undefined;
  /** Files between the two may have been removed: not while the one before exists, since the oldest are removed first. */
  readonly afterGap: boolean;
}

export interface LogFiles {
  readonly directory: string;
  /** The name of the current file: `0.log`. */
  readonly log: string;
  /** Names of rotated files without `.gz`, oldest first. */
  rotated(): Promise<readonly string[]>;
  /** Undefined if it was removed. */
  openRotated(name: string): Promise<OpenLog | undefined>;
  /** The file after the rotated one of that name; undefined if there is none. */
  openAfter(name: string): Promise<NextLog | undefined>;
  /** The current file with all older ones, from a moment without a rotation. */
  openAll(): Promise<{ readonly current: OpenLog | undefined; readonly older: readonly string[] }>;
}

export interface LogPlace {
  readonly files: GuardedFiles;
  /** `podLogsDir`: no other log is read. */
  readonly podLogs: string;
}

/** More names than rotation creates: a pod with that directory mounted has created them. */
const MOST_NAMES = 20_000;

export function createLogFiles(place: LogPlace, path: string): LogFiles {
  const [dir, log] = [dirname(path), basename(path)];
  const rotated = async () => rotatedNames(await namesIn(place, dir), log);

  const openRotated = async (name: string): Promise<OpenLog | undefined> =>
    (await openLog(place, join(dir, name), false)) ?? (await openLog(place, join(dir, compressedName(name)), true));

  const openAll: LogFiles['openAll'] = async () => {
    for (;;) {
      const older = await rotated();
      const current = await openLog(place, path, false);
      if ((await rotated()).at(-1) === older.at(-1)) return { current, older };
      await current?.close();
    }
  };

  const openAfter: LogFiles['openAfter'] = async (before) => {
    const { current, older } = await openAll();
    const afterGap = !older.includes(before);
    for (const name of older.filter((one) => one > before)) {
      const file = await openRotated(name);
      if (file === undefined) continue;
      await current?.close();
      return { file, name, afterGap };
    }
    return current === undefined ? undefined : { file: current, name: undefined, afterGap };
  };

  return { directory: dir, log, rotated, openRotated, openAfter, openAll };
}

async function openLog(
  { files, podLogs }: LogPlace,
  path: string,
  isCompressed: boolean,
): Promise<OpenLog | undefined> {
  try {
    const handle = await files.open(podLogs, path);
    try {
      const { ino } = await handle.stat();
      return { handle, inode: ino, isCompressed, close: () => handle.close() };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function namesIn({ files, podLogs }: LogPlace, path: string): Promise<readonly string[]> {
  try {
    using dir = files.directory(podLogs, path);
    return (await dir.names(MOST_NAMES)).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
