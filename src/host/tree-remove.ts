/**
 * Removes a directory with all that is in it and never anything that is only mounted there: every step goes by descriptor and refuses
 * to cross a mount point, so that neither a link nor a mount that appears meanwhile leads out of the tree. Containers made the tree:
 * its names are any bytes, and it may be deeper and wider than memory or descriptors allow to hold at once.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoName, hasErrno, isMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import {
  type FileCalls,
  type NamedEntry,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
} from './file-calls.ts';

/** Deeper directories are first moved up: each level holds a descriptor, and the owner of the tree may nest without end. */
const DEEPEST = 200;
/** So often a directory is emptied again into which another process writes while it is removed. */
const MOST_ROUNDS = 5;

interface Level {
  readonly fd: number;
  readonly name: Buffer;
  readonly rounds: number;
  /** Read and not removed yet. */
  names: readonly NamedEntry[];
  next: number;
  /** Something was moved here from below since it was last read from its beginning. */
  hasNew: boolean;
  /** Something in it can't be removed. */
  isStuck: boolean;
}

interface Removal {
  readonly calls: FileCalls;
  readonly path: string;
  /** The directory that has the tree; not part of it. */
  readonly parent: number;
  readonly levels: Level[];
  /** The first thing that could not be removed: the rest goes all the same, then this is reported. */
  failure: CodedError | undefined;
}

/** Yields after every name, so that who drives it can do something else in between. What is missing is fine. */
export function* removeTree(calls: FileCalls, path: string): Generator<void, void> {
  const parent = openDirectory(dirname(path));
  if (parent === undefined) return;
  const removal: Removal = { calls, path, parent, levels: [], failure: undefined };
  const root = Buffer.from(basename(path));
  try {
    if (!removeFile(removal, parent, root)) enter(removal, parent, root, 0);
    for (let level = removal.levels.at(-1); level !== undefined; level = removal.levels.at(-1)) {
      const next = nextName(calls, level);
      if (next === undefined) leave(removal, level);
      else removeNext(removal, level, next);
      yield;
    }
    if (removal.failure !== undefined) throw removal.failure;
  } finally {
    for (const { fd } of removal.levels) closeSync(fd);
    closeSync(parent);
  }
}

function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | O_DIRECTORY);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const where = ({ path, levels }: Removal, name: Buffer): string =>
  join(dirname(path), ...levels.map((level) => level.name.toString()), name.toString());

function mounted(removal: Removal, name: Buffer, cause: unknown): CodedError {
  const message = `${removal.path} can't be removed: something is mounted at ${where(removal, name)}`;
  return new CodedError('conflict', message, { cause });
}

function stays(removal: Removal, name: Buffer, cause: unknown): void {
  const message = `${removal.path} can't be removed: ${where(removal, name)} stays`;
  removal.failure ??= new CodedError('conflict', message, { cause });
  const level = removal.levels.at(-1);
  if (level !== undefined) level.isStuck = true;
}

interface Change {
  readonly name: Buffer;
  /** That has the name, and where it goes. */
  readonly directories: readonly [number, ...number[]];
  make(): void;
}

/** What attributes of the directories or the file forbid is done without those attributes. */
function change({ calls, parent }: Removal, { name, directories, make }: Change): void {
  try {
    make();
  } catch (error) {
    const within = directories.filter((fd) => fd !== parent);
    if (!hasErrno(error, 'EPERM') || !makeMutable(calls, directories[0], name, within)) throw error;
    make();
  }
}

function removeNext(removal: Removal, level: Level, { name, type }: NamedEntry): void {
  if (type !== 'directory' && removeFile(removal, level.fd, name)) return;
  if (removal.levels.length >= DEEPEST) moveUp(removal, level, name);
  // Exchanged for something else since it was listed.
  else if (!enter(removal, level.fd, name, 0) && !removeFile(removal, level.fd, name)) stays(removal, name, undefined);
}

/** False: it is no directory. */
function enter(removal: Removal, directory: number, name: Buffer, rounds: number): boolean {
  try {
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    const fd = removal.calls.openBelow(directory, name, { flags, links: 'none', crossMounts: false });
    removal.levels.push({ fd, name, rounds, names: [], next: 0, hasNew: false, isStuck: false });
    return true;
  } catch (error) {
    const code = errnoName(error);
    if (code === 'EXDEV') throw mounted(removal, name, error);
    if (code === 'ENOTDIR' || code === 'ELOOP') return false;
    if (code !== 'ENOENT') stays(removal, name, error);
    return true;
  }
}

/** False: it is a directory. */
function removeFile(removal: Removal, directory: number, name: Buffer): boolean {
  try {
    change(removal, { name, directories: [directory], make: () => removal.calls.removeName(directory, name, 'file') });
  } catch (error) {
    const code = errnoName(error);
    if (code === 'EISDIR') return false;
    if (code === 'EBUSY') throw mounted(removal, name, error);
    if (code !== 'ENOENT') stays(removal, name, error);
  }
  return true;
}

function leave(removal: Removal, { fd, name, rounds, hasNew, isStuck }: Level): void {
  removal.levels.pop();
  closeSync(fd);
  const above = removal.levels.at(-1);
  if (isStuck) {
    if (above !== undefined) above.isStuck = true;
    return;
  }
  const directory = above?.fd ?? removal.parent;
  try {
    change(removal, {
      name,
      directories: [directory],
      make: () => removal.calls.removeName(directory, name, 'directory'),
    });
  } catch (error) {
    const code = errnoName(error);
    if (code === 'EBUSY') throw mounted(removal, name, error);
    if (code === 'ENOENT') return;
    // Exchanged for something else while it was emptied.
    if (code === 'ENOTDIR' && removeFile(removal, directory, name)) return;
    if (code === 'ENOTEMPTY' && (hasNew || rounds < MOST_ROUNDS))
      enter(removal, directory, name, hasNew ? 0 : rounds + 1);
    else stays(removal, name, error);
  }
}

function moveUp(removal: Removal, level: Level, name: Buffer): void {
  const [top] = removal.levels;
  if (top === undefined) return;
  // No container can have taken a name that it can't know.
  const newName = `..removed-${randomBytes(16).toString('hex')}`;
  try {
    const make = () => removal.calls.rename(level.fd, name, top.fd, newName);
    change(removal, { name, directories: [level.fd, top.fd], make });
    top.hasNew = true;
  } catch (error) {
    const code = errnoName(error);
    if (code === 'EBUSY' || code === 'EXDEV') throw mounted(removal, name, error);
    if (code !== 'ENOENT') stays(removal, name, error);
  }
}

function nextName(calls: FileCalls, level: Level): NamedEntry | undefined {
  if (level.next === level.names.length) {
    level.names = calls.readNames(level.fd);
    level.next = 0;
  }
  const name = level.names[level.next];
  level.next += 1;
  return name;
}

/** Takes `immutable` and `append only` off what has that name and off directories of the tree; false where that changes nothing. */
function makeMutable(calls: FileCalls, directory: number, name: Buffer, directories: readonly number[]): boolean {
  const held = calls.openBelow(directory, name, { flags: O_PATH | O_NOFOLLOW, links: 'none', crossMounts: false });
  try {
    const found = fstatSync(held);
    // Opening anything else could block or have effects.
    const opened = found.isFile() || found.isDirectory() ? [...directories, held] : directories;
    return opened.filter((fd) => clearAttributes(calls, `/proc/self/fd/${fd}`)).length > 0;
  } finally {
    closeSync(held);
  }
}

function clearAttributes(calls: FileCalls, path: string): boolean {
  const fd = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    return calls.makeMutable(fd);
  } catch (error) {
    // A file system without attributes, or no one may change them here: the first error counts.
    if (hasErrno(error, 'ENOTTY', 'EOPNOTSUPP', 'EPERM')) return false;
    throw error;
  } finally {
    closeSync(fd);
  }
}
