import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashContainer } from './hash.ts';

test('the hash is that of the reference', () => {
  // Recorded annotations.
  const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1';
  assert.equal(hashContainer({ name: 'c', image }), 'a6dd0ded');
  assert.equal(hashContainer({ name: 'side', image }), '5f5f5957');
  assert.equal(hashContainer({ name: 'c', image: 'registry.k8s.io/e2e-test-images/nonroot:1.5' }), 'aa72a1a0');
});

test('only name and image count', () => {
  const base = hashContainer({ name: 'c', image: 'i' });
  const more = { name: 'c', image: 'i', command: ['x'], env: [{ name: 'A' }] };
  assert.equal(hashContainer(more), base);
  assert.notEqual(hashContainer({ name: 'c', image: 'j' }), base);
  assert.notEqual(hashContainer({ name: 'd', image: 'i' }), base);
  assert.equal(hashContainer({ name: 'c' }), hashContainer({ name: 'c', image: '' }));
});
