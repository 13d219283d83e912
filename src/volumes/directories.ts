/**
 * The directories that volumes are made of: plain ones on the kubelet's disk, tmpfs, huge pages. A directory is marked as ready when it
 * is complete; from then on it belongs to the pod, and its mode and owner are not touched again.
 */

import { closeSync, open } from 'node:fs';
import { chmod, mkdir, rmdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { hasErrno } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import type { FileCalls } from '../host/file-calls.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import { isForeign, type MountEntry, type MountTable, mountsBelow } from '../host/mount-table.ts';
import type { VolumeDirectories, VolumeRequest } from './kind.ts';
import { readyDirectory } from './rules/places.ts';

export interface DirectoryRequest {
  readonly directory: string;
  readonly medium: 'disk' | 'memory' | 'huge-pages';
  /** Of a tmpfs. */
  readonly sizeBytes?: number;
  /** Of huge pages: `2Mi`. */
  readonly pageSize?: string;
  /** Done once, before the directory is marked as ready. */
  readonly finish?: () => Promise<void>;
  readonly enter?: VolumeRequest['enter'];
}

export interface Directories extends VolumeDirectories {
  ensure(request: DirectoryRequest, signal: AbortSignal): Promise<void>;
}

export interface DirectoriesDeps {
  readonly calls: Pick<FileCalls, 'mount' | 'unmount'>;
  readonly jobs: FileJobs;
  readonly mountTable: MountTable;
  /** Called once where the kernel can't keep what is in memory from being swapped. */
  readonly onSwappable: () => void;
}

const FOR_EVERY_USER = 0o777;

export function createDirectories({ calls, jobs, mountTable, onSwappable }: DirectoriesDeps): Directories {
  // Kernels before 6.4 don't know the option: the first mount shows it.
  let swapOption = ',noswap';

  const mountMemory = (target: string, sizeBytes: number | undefined): void => {
    const size = sizeBytes === undefined || sizeBytes <= 0 ? '' : `size=${sizeBytes}`;
    const mount = () =>
      calls.mount({ source: 'tmpfs', target, type: 'tmpfs', data: trimComma(`${size}${swapOption}`) });
    try {
      mount();
    } catch (error) {
      if (!hasErrno(error, 'EINVAL') || swapOption === '') throw error;
      swapOption = '';
      mount();
      onSwappable();
    }
  };

  const ensure: Directories['ensure'] = async (request) => {
    const { directory, medium } = request;
    const ready = join(readyDirectory(directory), 'ready');
    // Every check is a call on another thread: a directory that was just made needs none.
    const [made] = await Promise.all([
      mkdir(directory, { recursive: true, mode: 0o755 }),
      mkdir(dirname(ready), { recursive: true, mode: 0o750 }),
    ]);
    const isNew = made !== undefined;
    const mounted = !isNew && (await isMountPoint(directory));
    if (!isNew && (medium === 'disk' || mounted) && (await exists(ready))) return;
    if (!mounted) {
      // Again, because the mode given at creation is cut by the umask.
      await chmod(directory, FOR_EVERY_USER);
      if (medium !== 'disk') request.enter?.('mount');
      if (medium === 'memory') mountMemory(directory, request.sizeBytes);
      if (medium === 'huge-pages') {
        calls.mount({ source: 'nodev', target: directory, type: 'hugetlbfs', data: `pagesize=${request.pageSize}` });
      }
    }
    await request.finish?.();
    await createEmptyFile(ready, 0o644);
  };

  /** Of several mounts at one path the top one is unmounted first; one that another process unmounted meanwhile is no error. */
  const unmountAll = async (directory: string, stacked: readonly MountEntry[], signal: AbortSignal): Promise<void> => {
    for (const entry of stacked.toReversed()) {
      // In its own process: the kernel takes a while to free a large tmpfs.
      const away = isForeign(entry) || (await isLarge(directory));
      if (away) await jobs.run({ kind: 'unmount', path: directory }, { foreign: true, signal });
      else unmountHere(directory);
    }
  };

  const unmountHere = (directory: string): void => {
    try {
      calls.unmount(directory, false);
    } catch (error) {
      if (!hasErrno(error, 'EINVAL')) throw error;
    }
  };

  const remove: Directories['remove'] = async (directory, signal) => {
    const marks = readyDirectory(directory);
    // Read once: with many pods the table is long. A mount that appears later stops the removal below.
    const table = mountTable(directory);
    const below = mountsBelow(table, directory);
    if (below.length > 0) {
      const points = below.map(({ point }) => point).join(', ');
      throw new CodedError('conflict', `${directory} can't be removed: still mounted below it: ${points}`);
    }
    await jobs.run({ kind: 'remove', path: marks }, { foreign: false, signal });
    const stacked = table.filter(({ point }) => point === directory);
    await unmountAll(directory, stacked, signal);
    await jobs.run({ kind: 'remove', path: directory }, { foreign: false, signal });
    await removeIfEmpty(dirname(marks));
  };

  return { ensure, remove };
}

const LARGE_BYTES = 32 * 1024 * 1024;

async function isLarge(directory: string): Promise<boolean> {
  const { blocks, bfree, bsize } = await statfs(directory);
  return (blocks - bfree) * bsize > LARGE_BYTES;
}

const trimComma = (text: string): string => (text.startsWith(',') ? text.slice(1) : text);

async function isMountPoint(directory: string): Promise<boolean> {
  const [own, parent] = await Promise.all([stat(directory), stat(dirname(directory))]);
  return own.dev !== parent.dev;
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

const openFile = promisify(open);

/** `writeFile` needs three calls on another thread for that. */
async function createEmptyFile(path: string, mode: number): Promise<void> {
  closeSync(await openFile(path, 'w', mode));
}

async function removeIfEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}
