/**
 * On a node that is short of disk: what a container wrote faster than its log was rotated is cut to the end of it, as large as a log may be. Rotation
 * alone frees nothing of such a log: it gives it another name.
 */
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { GuardedDirectory } from '../../host/guarded-files.ts';
import { keepLogSmall, MOST_NAMES, type RotateDeps, type WrittenLog } from './rotate.ts';
import { HALF_DONE, oversizeFrom, rotatedNames } from './rules/rotation.ts';

/** The end of a line is looked for in so much. Longer lines are cut. */
const LONGEST_LINE = 64 * 1024;

export async function shrinkLog(deps: RotateDeps, one: WrittenLog, signal: AbortSignal): Promise<void> {
  // Before rotation compresses it, which takes long.
  await trimRotated(deps, one, signal);
  await keepLogSmall(deps, one, signal);
  await trimRotated(deps, one, signal);
}

async function trimRotated(deps: RotateDeps, { path }: WrittenLog, signal: AbortSignal): Promise<void> {
  using dir = deps.files.directory(deps.podLogs, dirname(path));
  const names = (await dir.names(MOST_NAMES)).filter(({ isDirectory }) => !isDirectory).map(({ name }) => name);
  for (const name of rotatedNames(basename(path), names)) {
    const found = await dir.stat(name);
    const from = found?.isFile() === true ? oversizeFrom(found.size, Number(deps.maxSize)) : undefined;
    if (from === undefined) continue;
    await keepEnd(dir, { name, from }, signal);
    deps.log.info('Removed the beginning of an oversized log', { path: join(dirname(path), name), bytes: from });
  }
}

/** The file is there at every moment, whole or without its beginning. */
async function keepEnd(
  dir: GuardedDirectory,
  { name, from }: { readonly name: string; readonly from: number },
  signal: AbortSignal,
): Promise<void> {
  const half = `${name}${HALF_DONE}`;
  await using whole = await dir.open(name);
  const { mode } = await whole.stat();
  const { buffer, bytesRead } = await whole.read(Buffer.alloc(LONGEST_LINE), 0, LONGEST_LINE, from);
  const start = from + buffer.subarray(0, bytesRead).indexOf('\n') + 1;
  await using end = await dir.create(half, mode & 0o777);
  try {
    await pipeline(whole.createReadStream({ start, autoClose: false }), end.createWriteStream({ flush: true }), {
      signal,
    });
    await dir.rename(half, name);
  } catch (error) {
    await dir.remove(half);
    throw error;
  }
}
