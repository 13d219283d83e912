/**
 * Walks a directory by descriptor: no link is followed, and what is mounted below is left alone. A container may nest directories
 * without end and put millions of names into one: names are read some hundred at a time, and only so many descriptors are open.
 */

import { closeSync, fstatSync, openSync } from 'node:fs';
import { errnoName } from '../base/errno.ts';
import { type FileCalls, type NamedEntry, O_DIRECTORY, O_NOFOLLOW, O_RDONLY } from './file-calls.ts';

/** Levels from the top whose descriptors stay open: there the walk goes on where the way back from below is lost. */
const OPEN_AT_TOP = 32;
/** And so many of the deepest ones. The others are opened again on the way back. */
const OPEN_AT_END = 96;

export interface TreeVisitor {
  /** Anything but a directory. */
  file(directory: number, name: Buffer): void;
  /** A directory, when all below it was visited. */
  directory(fd: number): void;
}

interface Level {
  fd: number | undefined;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Read and not visited yet. */
  names: readonly NamedEntry[];
  next: number;
  /** Where in the directory the next name is. */
  position: bigint;
}

/** Yields after every name. Answers how many directories were moved away under the walk, so that it could not go back to them. */
export function* walkTree(calls: FileCalls, path: string, visitor: TreeVisitor): Generator<void, number> {
  const levels: Level[] = [];
  let lost = 0;
  try {
    enter(levels, openSync(path, O_RDONLY | O_DIRECTORY));
    for (let level = levels.at(-1); level?.fd !== undefined; level = levels.at(-1)) {
      const name = nextName(calls, level, level.fd);
      if (name === undefined) {
        visitor.directory(level.fd);
        lost += leave(calls, levels, level.fd);
      } else visit(calls, levels, { directory: level.fd, name }, visitor);
      yield;
    }
    return lost;
  } finally {
    for (const { fd } of levels) if (fd !== undefined) closeSync(fd);
  }
}

function visit(
  calls: FileCalls,
  levels: Level[],
  { directory, name }: { readonly directory: number; readonly name: NamedEntry },
  visitor: TreeVisitor,
): void {
  if (name.type === 'other') {
    visitor.file(directory, name.name);
    return;
  }
  const opened = openDirectory(calls, directory, name.name);
  if (typeof opened === 'number') enter(levels, opened);
  else if (opened === 'no directory' && name.type === 'unknown') visitor.file(directory, name.name);
}

function nextName(calls: FileCalls, level: Level, fd: number): NamedEntry | undefined {
  if (level.next === level.names.length) {
    level.names = calls.readNames(fd);
    level.next = 0;
  }
  const name = level.names[level.next];
  level.next += 1;
  if (name !== undefined) level.position = name.next;
  return name;
}

function enter(levels: Level[], fd: number): void {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  levels.push({ fd, dev, ino, names: [], next: 0, position: 0n });
  const far = levels[levels.length - OPEN_AT_END - 1];
  if (far?.fd === undefined || levels.length <= OPEN_AT_TOP + OPEN_AT_END) return;
  closeSync(far.fd);
  far.fd = undefined;
  far.names = [];
  far.next = 0;
}

/** Back to the level above; where that was moved away meanwhile, to the next one that is still open. Answers how many are lost. */
function leave(calls: FileCalls, levels: Level[], fd: number): number {
  let lost = 0;
  try {
    levels.pop();
    const above = levels.at(-1);
    if (above === undefined || above.fd !== undefined) return 0;
    above.fd = openAgain(calls, above, fd);
    for (; levels.at(-1)?.fd === undefined && levels.length > 0; lost += 1) levels.pop();
    return lost;
  } finally {
    closeSync(fd);
  }
}

/** Undefined where the directory above is another one by now. */
function openAgain(calls: FileCalls, { dev, ino, position }: Level, below: number): number | undefined {
  const fd = calls.openParent(below);
  const found = fstatSync(fd, { bigint: true });
  if (found.dev === dev && found.ino === ino) {
    calls.seekNames(fd, position);
    return fd;
  }
  closeSync(fd);
  return undefined;
}

/** `gone`: also a mount of another process. */
function openDirectory(calls: FileCalls, directory: number, name: Buffer): number | 'gone' | 'no directory' {
  try {
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    return calls.openBelow(directory, name, { flags, links: 'none', crossMounts: false });
  } catch (error) {
    const code = errnoName(error);
    if (code === 'ENOTDIR' || code === 'ELOOP') return 'no directory';
    if (code === 'ENOENT' || code === 'EXDEV') return 'gone';
    throw error;
  }
}
