/** How much of what pods use this machine has. */
import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes set aside for huge pages, by page size in bytes, as in the directories `hugepages-2048kB`. */
export function hugePages(directory = '/sys/kernel/mm/hugepages'): ReadonlyMap<bigint, bigint> {
  const found = new Map<bigint, bigint>();
  for (const name of existsSync(directory) ? readdirSync(directory).sort() : []) {
    const kilobytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (kilobytes === undefined) continue;
    const size = BigInt(kilobytes) * 1024n;
    found.set(size, size * BigInt(readFileSync(join(directory, name, 'nr_hugepages'), 'utf8').trim()));
  }
  return found;
}

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
