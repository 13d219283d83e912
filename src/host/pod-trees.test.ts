import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MountEntry } from './mount-table.ts';
import { createTreeRemoval } from './pod-trees.ts';

test('a directory with a mount below it stays whole; another one is removed', async () => {
  const removed: unknown[] = [];
  const mounts = [{ point: '/root/pods/a/volumes/v', type: 'tmpfs' } as MountEntry];
  const { removeUnmounted: remove } = createTreeRemoval({
    jobs: {
      run: (job) => {
        removed.push(job);
        return Promise.resolve({}) as never;
      },
    },
    mountTable: () => mounts,
  });
  await assert.rejects(remove('/root/pods/a'), /still mounted below it: \/root\/pods\/a\/volumes\/v/);
  assert.deepEqual(removed, []);
  await remove('/root/pods/b');
  assert.deepEqual(removed, [{ kind: 'remove', path: '/root/pods/b' }]);
});
