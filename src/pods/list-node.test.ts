import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { listNode } from './list-node.ts';

test('a pod is found wherever something of it is left, and what the runtime reports counts first', async () => {
  const alive = { uid: podUid('a'), name: 'web', namespace: 'n', alive: true };
  const found = await listNode(
    {
      listRuntime: () => Promise.resolve([alive]),
      listDirectories: () => Promise.resolve(['a', 'b']),
      listCgroups: () => Promise.resolve(['c']),
      listLogs: () => Promise.resolve([{ uid: 'b', name: 'db', namespace: 'n' }]),
    },
    new AbortController().signal,
  );
  assert.deepEqual(
    found.toSorted((one, other) => (one.uid < other.uid ? -1 : 1)),
    [
      alive,
      { uid: 'b', name: 'db', namespace: 'n', alive: false },
      { uid: 'c', name: '', namespace: '', alive: false },
    ],
  );
});
