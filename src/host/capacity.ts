/** How much of what pods use this machine has. */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** The largest number of processes and threads at once; undefined where the kernel doesn't say. */
export function processLimit(directory = '/proc/sys/kernel'): bigint | undefined {
  const limits = ['pid_max', 'threads-max']
    .map((name) => join(directory, name))
    .filter((file) => existsSync(file))
    .map((file) => BigInt(readFileSync(file, 'utf8').trim()));
  return limits.reduce<bigint | undefined>(
    (least, limit) => (least === undefined || limit < least ? limit : least),
    undefined,
  );
}

/** The size of the file system that holds this directory. */
export function diskBytes(directory: string): bigint {
  const { blocks, bsize } = statfsSync(directory, { bigint: true });
  return blocks * bsize;
}
