/**
 * Removes a folder with all that is in it and never anything that is only mounted there: every step goes by descriptor and refuses
 * to cross a mount point, so that neither a link nor a mount that appears meanwhile leads out of the tree.
 */
import { closeSync, openSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { errnoName, type FileCalls, O_DIRECTORY, O_NOFOLLOW, O_PATH, O_RDONLY } from './file-calls.ts';

/** Deeper folders are first moved up: each level holds a descriptor, and whoever owns the tree may nest without end. */
const DEEPEST = 200;
/** So often a folder is emptied again into which somebody writes while it is removed. */
const MOST_ROUNDS = 5;

interface Name {
  readonly name: string;
  readonly isDirectory: boolean;
}

interface Level {
  readonly fd: number;
  readonly name: string;
  readonly names: Name[];
  readonly rounds: number;
}

/** Yields after every name, so that who drives it can do something else in between. What is missing is fine. */
export function* removeTree(calls: FileCalls, path: string): Generator<void, void> {
  const parent = openFolder(dirname(path));
  if (parent === undefined) return;
  const tree = createTree(calls, parent, path);
  try {
    while (tree.step()) yield;
  } finally {
    tree.close();
    closeSync(parent);
  }
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | O_DIRECTORY);
  } catch (error) {
    if (errnoName(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function createTree(calls: FileCalls, parent: number, path: string) {
  const levels: Level[] = [];
  let moved = 0;
  let begun = false;

  const where = (name: string) => join(dirname(path), ...levels.map((level) => level.name), name);

  const mounted = (name: string, cause: unknown) =>
    new CodedError('conflict', `${path} can't be removed: something is mounted at ${where(name)}`, { cause });

  const enter = (folder: number, name: string, rounds: number): void => {
    let fd: number;
    try {
      const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
      fd = calls.openBelow(folder, name, { flags, links: 'none', crossMounts: false });
    } catch (error) {
      if (errnoName(error) === 'EXDEV') throw mounted(name, error);
      if (errnoName(error) === 'ENOENT') return;
      throw error;
    }
    levels.push({ fd, name, names: [], rounds });
    // Through the descriptor: what is in the folder, not what may be mounted over it by now.
    for (const entry of readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true })) {
      levels.at(-1)?.names.push({ name: entry.name, isDirectory: entry.isDirectory() });
    }
  };

  /** False where it is a folder. */
  const removeFile = (folder: number, name: string): boolean => {
    try {
      calls.removeName(folder, name, 'file');
      return true;
    } catch (error) {
      const code = errnoName(error);
      if (code === 'ENOENT') return true;
      if (code === 'EISDIR') return false;
      throw code === 'EBUSY' ? mounted(name, error) : error;
    }
  };

  const leave = ({ fd, name, rounds }: Level): void => {
    levels.pop();
    closeSync(fd);
    const folder = levels.at(-1)?.fd ?? parent;
    try {
      calls.removeName(folder, name, 'directory');
    } catch (error) {
      const code = errnoName(error);
      if (code === 'EBUSY') throw mounted(name, error);
      if (code === 'ENOTEMPTY' && rounds < MOST_ROUNDS) enter(folder, name, rounds + 1);
      else if (code !== 'ENOENT') throw error;
    }
  };

  const moveUp = (level: Level, name: string): void => {
    const [top] = levels;
    if (top === undefined) return;
    moved += 1;
    const newName = `..removed-${moved}`;
    try {
      calls.rename(level.fd, name, top.fd, newName);
    } catch (error) {
      const code = errnoName(error);
      if (code === 'ENOENT') return;
      throw code === 'EBUSY' || code === 'EXDEV' ? mounted(name, error) : error;
    }
    top.names.push({ name: newName, isDirectory: true });
  };

  const step = (): boolean => {
    const level = levels.at(-1);
    if (level === undefined) {
      if (begun) return false;
      begun = true;
      if (!removeFile(parent, basename(path))) enter(parent, basename(path), 0);
      return levels.length > 0;
    }
    const next = level.names.pop();
    if (next === undefined) leave(level);
    else if (!next.isDirectory && removeFile(level.fd, next.name)) return true;
    else if (levels.length >= DEEPEST) moveUp(level, next.name);
    else enter(level.fd, next.name, 0);
    return levels.length > 0;
  };

  return {
    step,
    close: () => {
      for (const { fd } of levels) closeSync(fd);
    },
  };
}
