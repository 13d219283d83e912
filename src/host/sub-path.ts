/**
 * Mounts a directory or file of a volume at a place of its own, for containers that mount only that. The volume belongs to
 * containers, which may exchange names for links at any moment: the path is opened by descriptor, can't leave the volume, and
 * what was opened is what is mounted.
 */

import {
  closeSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { hasErrno, isMissing } from '../base/errno.ts';
import { type FileCalls, O_DIRECTORY, O_NOFOLLOW, O_PATH, O_RDONLY } from './file-calls.ts';
import { mountAt, readMountTable } from './mount-table.ts';

export interface SubPathRequest {
  /** Of the volume; may be reached over links, because it is the node's. */
  readonly volumePath: string;
  readonly subPath: string;
  /** Where it is mounted. */
  readonly target: string;
}

export function bindSubPath(calls: FileCalls, { volumePath, subPath, target }: SubPathRequest): void {
  const volume = openSync(volumePath, O_PATH | O_DIRECTORY);
  try {
    const fd = openOrMake(calls, volume, subPath);
    try {
      bindTo(calls, fd, target);
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(volume);
  }
}

function openOrMake(calls: FileCalls, volume: number, subPath: string): number {
  const clean = subPath.split('/').filter((name) => name !== '' && name !== '.');
  if (clean.length === 0) return open(calls, volume, '.');
  try {
    return open(calls, volume, clean.join('/'));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return make(calls, volume, clean);
  }
}

const open = (calls: FileCalls, volume: number, path: string) =>
  calls.openBelow(volume, path, { flags: O_PATH, links: 'inside', crossMounts: true });

/** Directories that are missing get the mode of the volume itself, so that any user who may write there may write here. */
function make(calls: FileCalls, volume: number, names: readonly string[]): number {
  const mode = fstatSync(volume).mode & 0o7777;
  let existing = names.length - 1;
  let directory: number | undefined;
  while (directory === undefined) {
    try {
      directory = open(calls, volume, existing === 0 ? '.' : names.slice(0, existing).join('/'));
    } catch (error) {
      if (!isMissing(error) || existing === 0) throw error;
      existing -= 1;
    }
  }
  for (const name of names.slice(existing)) directory = makeOne(calls, directory, name, mode);
  return directory;
}

/** Takes the descriptor of the parent for itself. */
function makeOne(calls: FileCalls, parent: number, name: string, mode: number): number {
  try {
    const isOurs = tryMake(calls, parent, name, mode);
    // Something else that was put there meanwhile is used, if it is a directory of the volume: never the target of a link.
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    const made = calls.openBelow(parent, name, { flags, links: 'none', crossMounts: false });
    // Again, because the mode given at creation is cut by the umask.
    if (isOurs) fchmodSync(made, mode);
    return made;
  } finally {
    closeSync(parent);
  }
}

function tryMake(calls: FileCalls, parent: number, name: string, mode: number): boolean {
  try {
    calls.makeDirectory(parent, name, mode);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  }
}

function bindTo(calls: FileCalls, fd: number, target: string): void {
  const requested = fstatSync(fd);
  if (mountAt(readMountTable(target), target) !== undefined) {
    const there = lstatSync(target);
    if (there.dev === requested.dev && there.ino === requested.ino) return;
    // A container before this one had something else there.
    calls.unmount(target, false);
  }
  mkdirSync(dirname(target), { recursive: true, mode: 0o750 });
  makeTarget(target, requested.isDirectory());
  calls.bind(`/proc/self/fd/${fd}`, target);
}

function makeTarget(target: string, isDirectory: boolean): void {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found?.isDirectory() === isDirectory) return;
  // Left by a container that had a file where this one has a directory, or the other way round; empty, as everything here.
  if (found?.isDirectory()) rmdirSync(target);
  else if (found !== undefined) unlinkSync(target);
  if (isDirectory) mkdirSync(target, { mode: 0o750 });
  else writeFileSync(target, '', { mode: 0o640 });
}
