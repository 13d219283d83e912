/**
 * Files that the kernel makes as they are read, below /proc and /sys: in memory, a few microseconds each, so synchronous. Who reads
 * many pauses in between. What is gone, or never was, is undefined: processes and cgroups end while they are looked at.
 */

import { closeSync, opendirSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { hasErrno } from '../base/errno.ts';

export interface KernelFiles {
  read(path: string): string | undefined;
  /** To be read again and again; undefined where there is no such file. */
  open(path: string): KernelFile | undefined;
  /** Wall clock, milliseconds. */
  modifiedAt(path: string): number | undefined;
  /** The files that a process has open, and how many of them are sockets. A process may have very many: it is done in steps. */
  openFiles(pid: number): Generator<void, OpenFiles | undefined>;
}

export interface KernelFile {
  /** From its beginning. Undefined: what it tells of is gone, or it can't be read. */
  read(): string | undefined;
  close(): void;
}

export interface OpenFiles {
  readonly files: number;
  readonly sockets: number;
}

/** It went while it was read, it was never there, or this kernel has it switched off (pressure without `psi=1`). */
const ABSENT = ['ENOENT', 'ENODEV', 'ENOTDIR', 'ESRCH', 'EOPNOTSUPP', 'EACCES', 'EINVAL'];
const CHUNK_BYTES = 16 * 1024;
const ENTRIES_IN_A_STEP = 128;
/** A pod may open a million files: beyond these, what they are is not looked up. */
const MOST_LINKS = 10_000;
const MOST_BYTES = 4 * 1024 * 1024;
/** The kernel hands out whole lines, a page of them at a time. */
const SURELY_WHOLE = 4096 - 512;

/** `onFailure` is called with a file that exists and cannot be read. */
export function createKernelFiles(onFailure: (path: string, error: unknown) => void): KernelFiles {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const guarded = <T>(path: string, work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!hasErrno(error, ...ABSENT)) onFailure(path, error);
      return undefined;
    }
  };
  return {
    read: (path) => guarded(path, () => readOnce(path, buffer)),
    open: (path) => {
      const file = guarded(path, () => openSync(path, 'r'));
      if (file === undefined) return undefined;
      return { read: () => guarded(path, () => readWhole(file, buffer)), close: () => closeSync(file) };
    },
    modifiedAt: (path) => guarded(path, () => statSync(path).mtimeMs),
    openFiles: function* (pid) {
      const path = `/proc/${pid}/fd`;
      const isSocket = (name: string): boolean => {
        const link = `${path}/${name}`;
        return guarded(link, () => readlinkSync(link))?.startsWith('socket:') === true;
      };
      // Since Linux 6.2 the size is the number of open files: the usual few are listed at once.
      const count = guarded(path, () => statSync(path).size) ?? 0;
      if (count > 0 && count <= ENTRIES_IN_A_STEP) {
        const names = guarded(path, () => readdirSync(path));
        return names && { files: names.length, sockets: names.filter(isSocket).length };
      }
      const directory = guarded(path, () => opendirSync(path, { bufferSize: ENTRIES_IN_A_STEP }));
      if (directory === undefined) return undefined;
      try {
        let [files, sockets] = [0, 0];
        for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
          files += 1;
          if (files <= MOST_LINKS && isSocket(entry.name)) sockets += 1;
          if (files % ENTRIES_IN_A_STEP === 0) yield;
        }
        return { files, sockets };
      } catch (error) {
        if (!hasErrno(error, ...ABSENT)) onFailure(path, error);
        return undefined;
      } finally {
        directory.closeSync();
      }
    },
  };
}

function readOnce(path: string, buffer: Buffer): string {
  const file = openSync(path, 'r');
  try {
    return readWhole(file, buffer);
  } finally {
    closeSync(file);
  }
}

/** Most are short; the rest is put together, up to a bound. */
function readWhole(file: number, buffer: Buffer): string {
  const length = readSync(file, buffer, 0, buffer.length, 0);
  let text = buffer.toString('latin1', 0, length);
  if (length < SURELY_WHOLE) return text;
  while (text.length < MOST_BYTES) {
    const more = readSync(file, buffer, 0, buffer.length, text.length);
    if (more === 0) break;
    text += buffer.toString('latin1', 0, more);
  }
  return text;
}
