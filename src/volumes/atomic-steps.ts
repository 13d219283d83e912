/**
 * Carries out the steps of an atomic write. Files on a disk may take long, so they are not written on the main thread, and only a few at a
 * time. A few small files in memory are written on the main thread: that takes microseconds, and a call on another thread takes longer.
 */
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, lchown, mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertNever } from '../base/assert-never.ts';
import type { AtomicStep } from './rules/atomic-plan.ts';
import type { Payload } from './rules/payload.ts';

/** How files are touched. */
export interface FileWrites {
  mkdir(path: string): unknown;
  chmod(path: string, mode: number): unknown;
  chown(path: string, owner: number, group: number): unknown;
  lchown(path: string, owner: number, group: number): unknown;
  symlink(target: string, path: string): unknown;
  rename(from: string, to: string): unknown;
  unlink(path: string): unknown;
  writeFile(path: string, data: Uint8Array, options: { readonly flag: 'wx'; readonly mode: number }): unknown;
}

/** On the threads that Node has for files. */
export const ON_THREADS: FileWrites = { mkdir, chmod, chown, lchown, symlink, rename, unlink, writeFile };
/** On the main thread: only for few and small files in memory. */
export const IN_PLACE: FileWrites = {
  mkdir: mkdirSync,
  chmod: chmodSync,
  chown: chownSync,
  lchown: lchownSync,
  symlink: symlinkSync,
  rename: renameSync,
  unlink: unlinkSync,
  writeFile: writeFileSync,
};

const FEW_FILES = 16;
const SMALL_BYTES = 64 * 1024;

/** Few and small enough to be written in place, if they are in memory. */
export function isSmall(payload: Payload): boolean {
  if (payload.size > FEW_FILES) return false;
  let bytes = 0;
  for (const { data } of payload.values()) bytes += data.length;
  return bytes <= SMALL_BYTES;
}

/** More at once than there are file threads is not faster, and a volume with a thousand files must not block others. */
const AT_ONCE = 4;

export async function applySteps(directory: string, steps: readonly AtomicStep[], files = ON_THREADS): Promise<void> {
  await inBatches(steps, (step) => applyStep(directory, step, files));
}

/** Begins nothing more after a failure, and reports it only when everything that was begun has ended. */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const failures: unknown[] = [];
  const drain = async () => {
    try {
      for (const item of left) {
        if (failures.length > 0) return;
        await work(item);
      }
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, drain));
  if (failures.length > 0) throw failures[0];
}

async function applyStep(directory: string, step: AtomicStep, files: FileWrites): Promise<void> {
  switch (step.step) {
    case 'directory': {
      const path = join(directory, step.path);
      await files.mkdir(path);
      // Again, because the mode given at creation is cut by the umask.
      await files.chmod(path, step.mode);
      return;
    }
    case 'file': {
      const path = join(directory, step.path);
      const { data, mode, owner } = step.file;
      await files.writeFile(path, data, { flag: 'wx', mode });
      await files.chmod(path, mode);
      if (owner !== undefined) await files.chown(path, owner, KEEP);
      return;
    }
    case 'link': {
      const path = join(directory, step.path);
      await files.symlink(step.target, path);
      if (step.owner !== undefined) await files.lchown(path, step.owner, KEEP);
      return;
    }
    case 'rename':
      await files.rename(join(directory, step.from), join(directory, step.to));
      return;
    case 'unlink':
      await files.unlink(join(directory, step.path));
      return;
    case 'removeTree':
      // The earlier content may be large.
      await rm(join(directory, step.path), { recursive: true, force: true });
      return;
    default:
      assertNever(step);
  }
}

/** The group stays: a file has it from its directory. */
const KEEP = -1;
