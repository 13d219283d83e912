import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createContainerHashes } from './container-hashes.ts';

const pod = (image: string): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'init:1' }] },
});

test('every container has a hash that changes with its image, made once for a description', () => {
  const hashes = createContainerHashes();
  const one = pod('web:1');
  const first = hashes(one);
  assert.deepEqual([...first.keys()].toSorted(), ['c', 'i']);
  assert.equal(hashes(one), first);
  const other = hashes(pod('web:2'));
  assert.notEqual(other.get('c'), first.get('c'));
  assert.equal(other.get('i'), first.get('i'));
});
