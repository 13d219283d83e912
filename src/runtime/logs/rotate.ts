/** Rotates one container's log so that no line is lost: rename, let the runtime open a new file, compress the older ones. */

import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { hasErrno } from '../../base/errno.ts';
import { CodedError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { GuardedDirectory, GuardedFiles } from '../../host/guarded-files.ts';
import { COMPRESSED, HALF_DONE, planRotation } from './rules/rotation.ts';

export interface WrittenLog {
  readonly containerId: string;
  readonly path: string;
}

export interface RotateDeps {
  readonly log: Logger;
  readonly files: Pick<GuardedFiles, 'directory'>;
  /** Makes the runtime write to a new file of the same name. */
  readonly reopen: (containerId: string, signal: AbortSignal) => Promise<void>;
  /** See `logStamp`. */
  readonly stamp: () => string;
  /** `podLogsDir`: no other log is touched. */
  readonly podLogs: string;
  readonly maxSize: bigint;
  readonly maxFiles: number;
}

/** More names than rotation makes in a directory: a pod with that directory mounted made them. */
export const MOST_NAMES = 20_000;

/** Nothing happens to a log that is small enough. One that is missing is opened again: its writer has lost it. */
export async function keepLogSmall(
  deps: RotateDeps,
  { containerId, path }: WrittenLog,
  signal: AbortSignal,
): Promise<void> {
  using dir = deps.files.directory(deps.podLogs, dirname(path));
  const log = basename(path);
  const found = await dir.stat(log);
  if (found === undefined) {
    await deps.reopen(containerId, signal);
    return;
  }
  if (!found.isFile()) throw new CodedError('invalid', `${path} is not a regular file`);
  if (BigInt(found.size) >= deps.maxSize) await rotateLog(deps, { containerId, directory: dir, path }, signal);
}

interface FullLog extends WrittenLog {
  readonly directory: GuardedDirectory;
}

async function rotateLog(
  deps: RotateDeps,
  { containerId, directory: dir, path }: FullLog,
  signal: AbortSignal,
): Promise<void> {
  const log = basename(path);
  const names = (await dir.names(MOST_NAMES)).filter(({ isDirectory }) => !isDirectory).map(({ name }) => name);
  const plan = planRotation({ log, names, maxFiles: deps.maxFiles, stamp: deps.stamp() });
  for (const name of plan.remove) await dir.remove(name);
  await dir.rename(log, plan.rotated);
  try {
    await deps.reopen(containerId, signal);
  } catch (error) {
    await putBack(dir, plan.rotated, log);
    throw error;
  }
  for (const name of plan.compress) {
    await compressOr(deps, { directory: dir, name, path: join(dirname(path), name) }, signal);
  }
}

/** Not over a new file: a runtime whose answer was lost may be writing to it. */
async function putBack(dir: GuardedDirectory, rotated: string, log: string): Promise<void> {
  try {
    await dir.link(rotated, log);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return;
    throw error;
  }
  await dir.remove(rotated);
}

interface RotatedLog {
  readonly directory: GuardedDirectory;
  readonly name: string;
  readonly path: string;
}

/** A file that can't be compressed now (a full disk) is compressed at the next rotation, or goes when it is too old. */
async function compressOr(deps: RotateDeps, rotated: RotatedLog, signal: AbortSignal): Promise<void> {
  try {
    await compress(rotated, signal);
  } catch (error) {
    if (!signal.aborted) deps.log.warn('Failed to compress log', { err: error, path: rotated.path });
  }
}

/** The file is there at every moment, in one form or the other. */
async function compress({ directory: dir, name }: RotatedLog, signal: AbortSignal): Promise<void> {
  const half = `${name}${HALF_DONE}`;
  await using plain = await dir.open(name);
  const { mode } = await plain.stat();
  // Fails where something has the name already: it would be written over, or be a link to another file.
  await using packed = await dir.create(half, mode & 0o777);
  try {
    await pipeline(plain.createReadStream(), createGzip(), packed.createWriteStream({ flush: true }), { signal });
    await dir.rename(half, `${name}${COMPRESSED}`);
  } catch (error) {
    await dir.remove(half);
    throw error;
  }
  await dir.remove(name);
}
