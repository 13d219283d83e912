import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { leftOnNode, nextEntry, type PodEntry, type PodEntryEvent } from './pod-entry.ts';

const pod = (deletionTimestamp?: string): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
  spec: { containers: [] },
});
const found = { uid: podUid('u'), name: 'p', namespace: 'n', alive: true };
const managed = { kind: 'managed', worker: 'w' } as const;
const orphan = { kind: 'orphan', found } as const;
const restarting = { kind: 'restarting' } as const;
const over = { kind: 'over' } as const;

const began = { kind: 'began', worker: 'w' } as const;
const orphaned = { kind: 'orphaned', found } as const;
const notRestored = { kind: 'not-restored' } as const;
const notDesired = { kind: 'not-desired' } as const;
const gone = { kind: 'gone', last: { step: 'gone', pod: pod() } } as const;
const deleted = { kind: 'gone', last: { step: 'gone', pod: pod('2026-01-01T00:00:00Z') } } as const;
const again = { kind: 'gone', last: { step: 'gone', pod: pod(), again: true } } as const;

type Entry = PodEntry<string> | undefined;
const cases: readonly [string, Entry, PodEntryEvent<string>, Entry][] = [
  ['a pod begins', undefined, began, managed],
  ['an orphan is restored', orphan, began, managed],
  ['a successor begins', restarting, began, managed],
  ['an orphan is found', undefined, orphaned, orphan],
  ['what has a worker is no orphan', managed, orphaned, managed],
  ['an orphan cannot be restored yet', orphan, notRestored, undefined],
  ['a pod is gone', managed, gone, undefined],
  ['a pod is gone that the API server still has', managed, deleted, over],
  ['a pod is gone that begins again', managed, again, restarting],
  ['the API server has deleted it', over, notDesired, undefined],
  ['a pod that no source has still ends', managed, notDesired, managed],
];
for (const [name, entry, event, next] of cases) {
  test(`pod entry: ${name}`, () => assert.deepEqual(nextEntry(entry, event), next));
}

test('pod entry: only a pod that begins again leaves something on the node', () => {
  assert.equal(leftOnNode(gone.last), undefined);
  assert.deepEqual(leftOnNode(again.last), { ...found, alive: false });
});
