/** Opens the files of one container's log, whatever is rotated or compressed in the meantime. */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
  readonly folder: string;
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

export function createLogFiles(path: string): LogFiles {
  const [folder, log] = [dirname(path), basename(path)];
  const rotated = async () => rotatedNames(await namesIn(folder), log);

  const openRotated = async (name: string): Promise<OpenLog | undefined> =>
    (await openLog(join(folder, name), false)) ?? (await openLog(join(folder, compressedName(name)), true));

  const openAll: LogFiles['openAll'] = async () => {
    for (;;) {
      const older = await rotated();
      const current = await openLog(path, false);
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

  return { folder, log, rotated, openRotated, openAfter, openAll };
}

async function openLog(path: string, isCompressed: boolean): Promise<OpenLog | undefined> {
  try {
    const handle = await open(path, 'r');
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

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
