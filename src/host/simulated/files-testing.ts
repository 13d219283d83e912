/** The files of a simulated machine: plain files in a directory of the test, without system calls that only Linux has. */
import { type Stats, statSync } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { assertNever } from '../../base/assert-never.ts';
import { ifPathMissing } from '../../base/errno.ts';
import type { DiskUse, FileAnswer, FileJob, PathKind } from '../file-job.ts';
import type { FileJobs } from '../file-jobs.ts';
import type { GuardedDirectory, GuardedFiles } from '../guarded-files.ts';
import { IN, type Inotify, type InotifyEvent } from '../inotify.ts';
import type { HostFiles, HostMounts } from '../ports.ts';

const DISK = {
  device: 1,
  capacityBytes: 2 ** 36,
  availableBytes: 2 ** 35,
  freeBytes: 2 ** 35,
  inodes: 1e6,
  inodesFree: 9e5,
};

export interface SimulatedFiles extends HostFiles {
  /** Reports a new or changed file to those that watch it or its directory, as inotify would. */
  changed(path: string): void;
}

export function createSimulatedFiles(mounts: Pick<HostMounts, 'unmount'>): SimulatedFiles {
  const inotify = createSimulatedInotify();
  return {
    inotify,
    changed: inotify.changed,
    guarded: createPlainFiles(),
    jobs: () => createPlainJobs(mounts),
    // A simulated machine has no configuration of its own.
    readText: () => Promise.resolve(''),
    space: () => Promise.resolve(DISK),
    size: () => Promise.resolve(DISK),
    use: () => Promise.resolve({ bytes: 0, inodes: 0 }),
  };
}

function createSimulatedInotify(): Inotify & Pick<SimulatedFiles, 'changed'> {
  const watches = new Set<{ readonly path: string; readonly listener: (event: InotifyEvent) => void }>();
  return {
    watch: (path, _mask, listener) => {
      statSync(path);
      const watch = { path, listener };
      watches.add(watch);
      return { close: () => void watches.delete(watch) };
    },
    close: () => watches.clear(),
    changed: (path) => {
      for (const watch of [...watches]) {
        if (watch.path === path) watch.listener({ mask: IN.closeWrite, name: '' });
        if (watch.path === dirname(path)) watch.listener({ mask: IN.closeWrite, name: basename(path) });
      }
    },
  };
}

function createPlainFiles(): GuardedFiles {
  return {
    open: (_root, path) => open(path, 'r'),
    openToWrite: (_root, path) => open(path, 'r+'),
    readTail: async (_root, path, maxBytes) => {
      const bytes = await readFile(path);
      const from = Math.max(bytes.length - maxBytes, 0);
      return { text: bytes.toString('utf8', from), whole: from === 0 };
    },
    directory: (_root, path) => {
      statSync(path);
      return plainDirectory(path);
    },
  };
}

function plainDirectory(path: string): GuardedDirectory {
  const at = (name: string) => join(path, name);
  return {
    names: async () => {
      const entries = await readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
    },
    stat: (name): Promise<Stats | undefined> => lstat(at(name)).catch(ifPathMissing(undefined)),
    open: (name): Promise<FileHandle> => open(at(name), 'r'),
    create: (name, mode) => open(at(name), 'wx', mode),
    rename: (name, newName) => rename(at(name), at(newName)),
    link: (name, newName) => link(at(name), at(newName)),
    remove: (name) => unlink(at(name)).catch(ifPathMissing(undefined)),
    [Symbol.dispose]: () => undefined,
  };
}

function createPlainJobs(mounts: Pick<HostMounts, 'unmount'>): FileJobs {
  return {
    run: async <Job extends FileJob>(job: Job) => (await runJob(job, mounts)) as FileAnswer<Job>,
    close: () => undefined,
  };
}

async function runJob(job: FileJob, mounts: Pick<HostMounts, 'unmount'>): Promise<FileAnswer<FileJob>> {
  switch (job.kind) {
    case 'remove':
      await rm(job.path, { recursive: true, force: true });
      return null;
    case 'measure':
      return { usedBytes: 0, inodesUsed: 1, ...DISK } satisfies DiskUse;
    case 'change-group':
      return { files: 0, failed: 0, firstFailure: undefined };
    case 'bind-sub-path':
      return null;
    case 'unmount':
      mounts.unmount(job.path, false);
      return null;
    case 'read':
      return await readFile(join(job.path, job.file), 'utf8');
    case 'look':
      return await look(job.path, job.make);
    default:
      return assertNever(job);
  }
}

async function look(path: string, make: 'directory' | 'file' | undefined): Promise<PathKind> {
  if (make === 'directory') await mkdir(path, { recursive: true });
  if (make === 'file') await (await open(path, 'a')).close();
  const found = await stat(path).catch(ifPathMissing(undefined));
  if (found === undefined) return 'missing';
  return found.isDirectory() ? 'directory' : found.isFile() ? 'file' : 'other';
}
