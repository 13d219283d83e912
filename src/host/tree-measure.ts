/** What a folder takes on its disk: blocks and names, a file with several names once. Mounts below it are not part of it. */
import { fstatSync, lstatSync } from 'node:fs';
import type { FileCalls } from './file-calls.ts';
import { walkTree } from './tree-walk.ts';

const BLOCK_BYTES = 512;

export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

export function* measureTree(calls: FileCalls, path: string): Generator<void, TreeSize> {
  let bytes = 0;
  let inodes = 0;
  const linked = new Set<string>();
  const count = (found: { dev: number; ino: number; nlink: number; blocks: number }, several: boolean): void => {
    if (several) {
      const key = `${found.dev}:${found.ino}`;
      if (linked.has(key)) return;
      linked.add(key);
    }
    bytes += found.blocks * BLOCK_BYTES;
    inodes += 1;
  };
  yield* walkTree(calls, path, {
    file: (folder, name) => {
      const found = lstatSync(`/proc/self/fd/${folder}/${name}`, { throwIfNoEntry: false });
      if (found !== undefined) count(found, found.nlink > 1);
    },
    folder: (fd) => count(fstatSync(fd), false),
  });
  return { bytes, inodes };
}
