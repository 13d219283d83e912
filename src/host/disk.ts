/** What is on disks, in numbers. */

import { lstat, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ifPathMissing } from '../base/errno.ts';

export interface DiskSpace {
  readonly capacityBytes: number;
  /** What programs without special rights may still write. */
  readonly availableBytes: number;
}

/** Of the file system that this path is on. Only for local ones: a hung network mount would hold a thread of the pool. */
export async function readDiskSpace(path: string): Promise<DiskSpace> {
  const { bsize, blocks, bavail } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}

export interface FileSystemSize extends DiskSpace {
  /** Tells file systems apart. */
  readonly device: number;
  readonly freeBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** Undefined: there is no such path. Only for local file systems, as above. */
export async function readFileSystem(path: string): Promise<FileSystemSize | undefined> {
  try {
    const [{ bsize, blocks, bfree, bavail, files, ffree }, { dev: device }] = await Promise.all([
      statfs(path),
      stat(path),
    ]);
    return {
      device,
      capacityBytes: blocks * bsize,
      freeBytes: bfree * bsize,
      availableBytes: bavail * bsize,
      inodes: files,
      inodesFree: ffree,
    };
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

const BLOCK_BYTES = 512;

export interface FilesUse {
  readonly bytes: number;
  readonly inodes: number;
}

/** What a file takes, or the files directly in a directory. Nothing where there is none. */
export async function filesUse(path: string): Promise<FilesUse> {
  const own = await lstat(path).catch(undefinedIfMissing);
  const names = own?.isDirectory() ? ((await readdir(path).catch(undefinedIfMissing)) ?? []) : [];
  const below = await Promise.all(names.map((name) => lstat(join(path, name)).catch(undefinedIfMissing)));
  const files = [own, ...below].filter((found) => found !== undefined && !found.isDirectory());
  return {
    bytes: files.reduce((total, file) => total + (file?.blocks ?? 0) * BLOCK_BYTES, 0),
    inodes: files.length,
  };
}

const undefinedIfMissing = ifPathMissing(undefined);
