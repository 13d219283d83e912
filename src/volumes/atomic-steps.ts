/** Carries out the steps of an atomic write, off the main thread and a few at a time. */
import { chmod, chown, lchown, mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertNever } from '../base/assert-never.ts';
import type { AtomicStep } from './rules/atomic-plan.ts';

/** More than the threads that file calls run on brings nothing, and a volume with a thousand files must leave room for others. */
const AT_ONCE = 4;

export async function applySteps(directory: string, steps: readonly AtomicStep[]): Promise<void> {
  await inBatches(steps, (step) => applyStep(directory, step));
}

/** Begins nothing more after a failure, and tells of it only when all that was begun has ended. */
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

async function applyStep(directory: string, step: AtomicStep): Promise<void> {
  switch (step.step) {
    case 'folder': {
      const path = join(directory, step.path);
      await mkdir(path);
      // Again, because the mode given at creation is cut by the umask.
      await chmod(path, step.mode);
      return;
    }
    case 'file': {
      const path = join(directory, step.path);
      const { data, mode, owner } = step.file;
      await writeFile(path, data, { flag: 'wx', mode });
      await chmod(path, mode);
      if (owner !== undefined) await chown(path, owner, KEEP);
      return;
    }
    case 'link': {
      const path = join(directory, step.path);
      await symlink(step.target, path);
      if (step.owner !== undefined) await lchown(path, step.owner, KEEP);
      return;
    }
    case 'rename':
      await rename(join(directory, step.from), join(directory, step.to));
      return;
    case 'unlink':
      await unlink(join(directory, step.path));
      return;
    case 'removeTree':
      await rm(join(directory, step.path), { recursive: true, force: true });
      return;
    default:
      assertNever(step);
  }
}

/** The group stays: a file has it from its folder. */
const KEEP = -1;
