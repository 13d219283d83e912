/** Rotates one container's log so that no line is lost: rename, let the runtime open a new file, compress the older ones. */
import { createReadStream, createWriteStream } from 'node:fs';
import { link, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Logger } from '../../base/logger.ts';
import { COMPRESSED, HALF_DONE, planRotation } from './rules/rotation.ts';

export interface WrittenLog {
  readonly containerId: string;
  readonly path: string;
}

export interface RotateDeps {
  readonly log: Logger;
  /** Makes the runtime write to a new file of the same name. */
  readonly reopen: (containerId: string, signal: AbortSignal) => Promise<void>;
  /** See `logStamp`. */
  readonly stamp: () => string;
  readonly maxSize: bigint;
  readonly maxFiles: number;
}

/** Nothing happens to a log that is small enough. One that is missing is opened again: its writer has lost it. */
export async function keepLogSmall(deps: RotateDeps, written: WrittenLog, signal: AbortSignal): Promise<void> {
  const size = await sizeOf(written.path);
  if (size === undefined) {
    await deps.reopen(written.containerId, signal);
    return;
  }
  if (size >= deps.maxSize) await rotateLog(deps, written, signal);
}

async function rotateLog(deps: RotateDeps, { containerId, path }: WrittenLog, signal: AbortSignal): Promise<void> {
  const folder = dirname(path);
  const names = await readdir(folder);
  const plan = planRotation({ log: basename(path), names, maxFiles: deps.maxFiles, stamp: deps.stamp() });
  for (const name of plan.remove) await rm(join(folder, name), { force: true });
  const rotated = join(folder, plan.rotated);
  await rename(path, rotated);
  try {
    await deps.reopen(containerId, signal);
  } catch (error) {
    await putBack(rotated, path);
    throw error;
  }
  for (const name of plan.compress) await compressOr(deps, join(folder, name), signal);
}

/** Not over a new file: a runtime whose answer was lost may be writing to it. */
async function putBack(rotated: string, path: string): Promise<void> {
  try {
    await link(rotated, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  await unlink(rotated);
}

/** A file that can't be compressed now (a full disk) is compressed at the next rotation, or goes when it is too old. */
async function compressOr(deps: RotateDeps, path: string, signal: AbortSignal): Promise<void> {
  try {
    await compress(path, signal);
  } catch (error) {
    if (!signal.aborted) deps.log.warn('Could not compress a rotated log', { err: error, path });
  }
}

/** The file is there at every moment, in one form or the other. */
async function compress(path: string, signal: AbortSignal): Promise<void> {
  const half = `${path}${HALF_DONE}`;
  const { mode } = await stat(path);
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(half, { mode: mode & 0o777 }), { signal });
    const file = await open(half, 'r+');
    await file.sync().finally(() => file.close());
    await rename(half, `${path}${COMPRESSED}`);
  } catch (error) {
    await rm(half, { force: true });
    throw error;
  }
  await unlink(path);
}

async function sizeOf(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
