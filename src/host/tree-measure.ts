/** What a directory takes on its disk: blocks and names, a file with several names once. Mounts below it are not part of it. */
import { fstatSync, lstatSync, type Stats } from 'node:fs';
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
  // Each name of a file counts its share. To remember files instead would take memory for each, and links out of a volume can't be made.
  const count = ({ blocks }: Stats, names: number): void => {
    bytes += (blocks * BLOCK_BYTES) / names;
    inodes += 1 / names;
  };
  yield* walkTree(calls, path, {
    file: (directory, name) => {
      const found = lstatSync(Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]), {
        throwIfNoEntry: false,
      });
      if (found !== undefined) count(found, Math.max(1, found.nlink));
    },
    directory: (fd) => count(fstatSync(fd), 1),
  });
  return { bytes: Math.round(bytes), inodes: Math.round(inodes) };
}
