/** The directory of a pod below `--root-dir`: names and modes as other tools on the node know them. */

import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isPodUid, type PodUid } from '../api/ids.ts';
import { isMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import type { GuardedFiles } from '../host/guarded-files.ts';

export interface PodDirectories {
  of(uid: PodUid): string;
  ensure(uid: PodUid): Promise<void>;
  /** All names in the directory of pods: UIDs, and the names of other files there. */
  list(): Promise<readonly string[]>;
  /** Creates the container's directory and answers where its termination message file will be. */
  planTerminationLog(uid: PodUid, container: string): Promise<string>;
  /** An empty file that any user may write. */
  createTerminationLog(path: string): Promise<void>;
  writeHosts(uid: PodUid, content: string): Promise<void>;
  /** Fails while anything is mounted below it: what is on that mount does not belong to the pod. */
  remove(uid: PodUid): Promise<void>;
}

export interface PodDirectoriesDeps {
  /** `--root-dir`. */
  readonly root: string;
  readonly files: Pick<GuardedFiles, 'openToWrite'>;
  /** Eight hexadecimal digits. */
  readonly randomName: () => string;
  /** Removes a directory with all that is in it, and stops at anything that is mounted below. */
  readonly removeTree: (path: string) => Promise<void>;
}

export function createPodDirectories({ root, files, randomName, removeTree }: PodDirectoriesDeps): PodDirectories {
  const of = (uid: PodUid): string => {
    if (!isPodUid(uid)) throw new CodedError('invalid', `pod UID ${JSON.stringify(uid)} can't name a directory`);
    return join(root, 'pods', uid);
  };
  return {
    of,
    ensure: async (uid) => {
      // Each makes the pod's own directory too: one trip to the file threads less.
      const directories = ['volumes', 'plugins'].map((name) => join(of(uid), name));
      await Promise.all(directories.map((path) => mkdir(path, { recursive: true, mode: 0o750 })));
    },
    list: () => readdir(join(root, 'pods')),
    planTerminationLog: async (uid, container) => {
      const directory = join(of(uid), 'containers', container);
      await mkdir(directory, { recursive: true, mode: 0o750 });
      return join(directory, randomName());
    },
    createTerminationLog: async (path) => {
      await using file = await open(path, 'wx');
      // Again, because the mode given at creation is cut by the umask.
      await file.chmod(0o666);
    },
    writeHosts: async (uid, content) => {
      const path = join(of(uid), 'etc-hosts');
      await using file = await openHosts(files, of(uid), path);
      const wanted = Buffer.from(content);
      if (await holds(file, wanted)) return;
      // The file is mounted into containers that run: it keeps its inode.
      await file.truncate(0);
      await file.write(wanted, 0, wanted.length, 0);
    },
    remove: (uid) => removeTree(of(uid)),
  };
}

async function openHosts(files: PodDirectoriesDeps['files'], directory: string, path: string): Promise<FileHandle> {
  try {
    return await files.openToWrite(directory, path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return await open(path, 'wx+', 0o644);
  }
}

/** Containers may write to the file: no more is read of it than should be there. */
async function holds(file: FileHandle, wanted: Buffer): Promise<boolean> {
  if ((await file.stat()).size !== wanted.length) return false;
  const bytes = Buffer.alloc(wanted.length);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return bytesRead === wanted.length && bytes.equals(wanted);
}
