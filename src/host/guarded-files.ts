/**
 * The one way to open what a container can write, or what is in a directory that a container may have changed: termination
 * messages, logs, env files, the hosts file. A container can put a link, a pipe or a device there, or a file of any size, and change
 * it at any moment. So a path is resolved below a directory of the kubelet without following links, what was found is held without being
 * opened, and only a regular file is then opened: opening a pipe would block a thread for good, and opening a device can have effects.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, opendir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import { type FileCalls, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_PATH, O_RDONLY, type OpenBelow } from './file-calls.ts';

const { O_CREAT, O_EXCL, O_RDWR, O_WRONLY } = constants;

export interface Tail {
  readonly text: string;
  /** The text is the whole file. */
  readonly whole: boolean;
}

export interface GuardedFiles {
  /** Opens a regular file for reading. `path` is absolute and below `root`; on the way from there no link is followed. */
  open(root: string, path: string): Promise<FileHandle>;
  /** The same, also for writing. */
  openToWrite(root: string, path: string): Promise<FileHandle>;
  /** The last bytes of a file, as text. */
  readTail(root: string, path: string, maxBytes: number): Promise<Tail>;
  /** Holds a directory below `root`, or `root` itself: its names stay in it, whatever takes its place meanwhile. */
  directory(root: string, path: string): GuardedDirectory;
}

/** None of these follows a link; names have no slash. */
export interface GuardedDirectory extends Disposable {
  /** Fails where there are more than `most`. */
  names(most: number): Promise<readonly GuardedName[]>;
  /** Undefined: missing. */
  stat(name: string): Promise<Stats | undefined>;
  open(name: string): Promise<FileHandle>;
  /** A new file; fails where something has that name. */
  create(name: string, mode: number): Promise<FileHandle>;
  rename(name: string, newName: string): Promise<void>;
  link(name: string, newName: string): Promise<void>;
  /** What is missing is fine. */
  remove(name: string): Promise<void>;
}

export interface GuardedName {
  readonly name: string;
  readonly isDirectory: boolean;
}

type Calls = Pick<FileCalls, 'openBelow'>;

export function createGuardedFiles(calls: Calls): GuardedFiles {
  const openWith = async (root: string, path: string, flags: number): Promise<FileHandle> => {
    const dir = openSync(root, O_PATH | O_DIRECTORY);
    try {
      return await openRegular(calls, dir, { name: below(root, path), path, flags });
    } finally {
      closeSync(dir);
    }
  };
  return {
    open: (root, path) => openWith(root, path, O_RDONLY),
    openToWrite: (root, path) => openWith(root, path, O_RDWR),
    readTail: async (root, path, maxBytes) => {
      await using file = await openWith(root, path, O_RDONLY);
      const { size } = await file.stat();
      const from = Math.max(size - maxBytes, 0);
      const bytes = Buffer.alloc(size - from);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
      return { text: bytes.toString('utf8', 0, bytesRead), whole: from === 0 };
    },
    directory: (root, path) => {
      const dir = openSync(root, O_PATH | O_DIRECTORY);
      if (path === root) return heldDirectory(calls, dir, path);
      try {
        const flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
        return heldDirectory(calls, calls.openBelow(dir, below(root, path), { ...NO_LINKS, flags }), path);
      } finally {
        closeSync(dir);
      }
    },
  };
}

const NO_LINKS = { links: 'none', crossMounts: true } as const;

function heldDirectory(calls: Calls, fd: number, path: string): GuardedDirectory {
  // Below a descriptor a path has one name left, and none of the calls here follows that.
  const at = (name: string): string => `/proc/self/fd/${fd}/${plain(name)}`;
  return {
    names: async (most) => {
      const names: GuardedName[] = [];
      for await (const entry of await opendir(`/proc/self/fd/${fd}`)) {
        if (names.length === most) throw new CodedError('exhausted', `${path} has more than ${most} names`);
        names.push({ name: entry.name, isDirectory: entry.isDirectory() });
      }
      return names;
    },
    stat: async (name) => {
      try {
        return await lstat(at(name));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    open: (name) => openRegular(calls, fd, { name: plain(name), path: `${path}/${name}`, flags: O_RDONLY }),
    create: (name, mode) => open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode),
    rename: (name, newName) => rename(at(name), at(newName)),
    link: (name, newName) => link(at(name), at(newName)),
    remove: async (name) => {
      try {
        await unlink(at(name));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

function plain(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
    throw new CodedError('invalid', `${JSON.stringify(name)} is no name of a file`);
  }
  return name;
}

/** The rest of the path; what it has of `..` the kernel refuses. */
function below(root: string, path: string): string {
  const dir = join(root, '/');
  if (!path.startsWith(dir)) throw new CodedError('denied', `${path} is not below ${root}`);
  return path.slice(dir.length);
}

interface Wanted {
  readonly name: string;
  /** For messages. */
  readonly path: string;
  readonly flags: number;
}

async function openRegular(calls: Calls, dir: number, { name, path, flags }: Wanted): Promise<FileHandle> {
  const held = holdRegular(calls, dir, { name, path, ...NO_LINKS });
  try {
    return await open(held.link, flags | O_NONBLOCK);
  } finally {
    held[Symbol.dispose]();
  }
}

interface Held extends Disposable {
  /** Leads to the file itself, whatever its name means by now. */
  readonly link: string;
}

/** Holds a regular file without opening it. Who opens it must not wait either: a process in a container may hold a lease on it. */
function holdRegular(
  calls: Calls,
  dir: number,
  { name, path, ...how }: { name: string; path: string } & Omit<OpenBelow, 'flags'>,
): Held {
  const fd = calls.openBelow(dir, name, { ...how, flags: how.links === 'none' ? O_PATH | O_NOFOLLOW : O_PATH });
  if (fstatSync(fd).isFile()) return { link: `/proc/self/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) };
  closeSync(fd);
  throw new CodedError('invalid', `${path} is not a regular file`);
}

/** The text of a file below a directory over links that stay below it, at once: for a process that may hang in the file system. */
export function readTextBelow(calls: Calls, root: string, file: string, maxBytes: number): string {
  const path = `${root}/${file}`;
  const dir = openSync(root, O_PATH | O_DIRECTORY);
  try {
    using held = holdRegular(calls, dir, { name: file, path, links: 'inside', crossMounts: true });
    const fd = openSync(held.link, O_RDONLY | O_NONBLOCK);
    try {
      const { size } = fstatSync(fd);
      if (size > maxBytes) {
        throw new CodedError('invalid', `${path} has ${size} bytes: at most ${maxBytes} are read`);
      }
      // As many as it had: it may grow while it is read.
      const bytes = Buffer.alloc(size);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0));
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(dir);
  }
}
