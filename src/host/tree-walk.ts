/** Walks a folder by descriptor: no link is followed, and what is mounted below is left alone. */
import { closeSync, openSync, readdirSync } from 'node:fs';
import { errnoName, type FileCalls, O_DIRECTORY, O_NOFOLLOW, O_RDONLY } from './file-calls.ts';

/** What lies deeper is left out: each level holds a descriptor, and whoever owns the tree may nest without end. */
const DEEPEST = 500;

export interface TreeVisitor {
  /** Anything but a folder. */
  file(folder: number, name: string): void;
  /** A folder, when all below it was visited. */
  folder(fd: number): void;
}

/** Yields after every name. */
export function* walkTree(calls: FileCalls, path: string, visitor: TreeVisitor): Generator<void, void> {
  const levels: { readonly fd: number; readonly names: { name: string; isDirectory: boolean }[] }[] = [];
  const push = (fd: number): void => {
    levels.push({ fd, names: [] });
    for (const entry of readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true })) {
      levels.at(-1)?.names.push({ name: entry.name, isDirectory: entry.isDirectory() });
    }
  };
  try {
    push(openSync(path, O_RDONLY | O_DIRECTORY));
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const next = level.names.pop();
      if (next === undefined) {
        visitor.folder(level.fd);
        levels.pop();
        closeSync(level.fd);
      } else if (!next.isDirectory) visitor.file(level.fd, next.name);
      else if (levels.length < DEEPEST) {
        const fd = openFolder(calls, level.fd, next.name);
        if (fd !== undefined) push(fd);
      }
      yield;
    }
  } finally {
    for (const { fd } of levels) closeSync(fd);
  }
}

function openFolder(calls: FileCalls, folder: number, name: string): number | undefined {
  try {
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    return calls.openBelow(folder, name, { flags, links: 'none', crossMounts: false });
  } catch (error) {
    // Gone meanwhile, exchanged for something else, or a mount of somebody else.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EXDEV'].includes(errnoName(error) ?? '')) return undefined;
    throw error;
  }
}
