/** Opens the files of one container's log, whatever is rotated or compressed in the meantime. */

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
  /** Undefined for the file that is written. */
  readonly name: string | undefined;
  /** Files may have been removed between the two: the oldest go first, so not while the one before is there. */
  readonly afterGap: boolean;
}

export interface LogFiles {
  readonly directory: string;
  /** The name of the file that is written: `0.log`. */
  readonly log: string;
  /** Names of rotated files without `.gz`, oldest first. */
  rotated(): Promise<readonly string[]>;
  /** Undefined when it is gone. */
  openRotated(name: string): Promise<OpenLog | undefined>;
  /** The file after the rotated one of that name; undefined where there is none. */
  openAfter(name: string): Promise<NextLog | undefined>;
  /** The file that is written, with all that are older: nothing was rotated between the two looks. */
  openAll(): Promise<{ readonly current: OpenLog | undefined; readonly older: readonly string[] }>;
}

export interface LogPlace {
  readonly files: GuardedFiles;
  /** `podLogsDir`: no other log is read. */
  readonly podLogs: string;
}

/** More names than rotation makes in a directory: a pod with that directory mounted made them. */
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
