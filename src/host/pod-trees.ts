/** Removes the directory of a pod: whole or, while something is mounted below it, not at all. */
import { CodedError } from '../base/errors.ts';
import type { FileJobs } from './file-jobs.ts';
import { type MountTable, mountsBelow } from './mount-table.ts';

export interface TreeRemovalDeps {
  readonly jobs: Pick<FileJobs, 'run'>;
  readonly mountTable: MountTable;
}

export interface TreeRemoval {
  /** Stops at what is mounted below. */
  removeTree(path: string): Promise<void>;
  /** Removes nothing where something is mounted below. */
  removeUnmounted(path: string): Promise<void>;
}

export function createTreeRemoval({ jobs, mountTable }: TreeRemovalDeps): TreeRemoval {
  // What is removed is removed to its end: a pod's directory that is half gone helps no one.
  const { signal } = new AbortController();
  const removeTree = async (path: string): Promise<void> => {
    await jobs.run({ kind: 'remove', path }, { foreign: false, signal });
  };
  return {
    removeTree,
    removeUnmounted: async (path) => {
      const below = mountsBelow(mountTable(path), path).map(({ point }) => point);
      if (below.length > 0)
        throw new CodedError('conflict', `${path} can't be removed: still mounted below it: ${below.join(', ')}`);
      await removeTree(path);
    },
  };
}
