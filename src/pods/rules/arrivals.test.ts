import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { planArrivals, updateFor } from './arrivals.ts';

const pod = (name: string, uid: string, priority?: number): Pod => ({
  metadata: { name, namespace: 'n', uid },
  spec: { containers: [], ...(priority === undefined ? {} : { priority }) },
});
const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid);

test('running pods first, then by priority, then in the order of the sources', () => {
  const desired = [pod('a', '1'), pod('b', '2', 100), pod('c', '3'), pod('d', '4', 2_000_000_000), pod('e', '5')];
  assert.deepEqual(uids(planArrivals({ desired, present: [], isAlive: (uid) => uid === '5' })), [
    '5',
    '4',
    '2',
    '1',
    '3',
  ]);
});

test('a pod waits until the other of its name is gone; of two new pods with one name the first begins', () => {
  const old = pod('a', 'old');
  const desired = [pod('a', 'new'), pod('b', '1'), pod('b', '2')];
  assert.deepEqual(uids(planArrivals({ desired, present: [old.metadata], isAlive: () => false })), ['1']);
  assert.deepEqual(uids(planArrivals({ desired, present: [], isAlive: () => false })), ['new', '1']);
  assert.deepEqual(
    planArrivals({ desired, present: desired.map(({ metadata }) => metadata), isAlive: () => false }),
    [],
    'they have workers',
  );
});

test('a pod that is being deleted does not wait, and begins once', () => {
  const going: Pod = { ...pod('a', 'new'), metadata: { ...pod('a', 'new').metadata, deletionTimestamp: 't' } };
  const present = [pod('a', 'old').metadata];
  assert.deepEqual(uids(planArrivals({ desired: [going], present, isAlive: () => false })), ['new']);
  const again = { desired: [going], present: [...present, going.metadata], isAlive: () => false };
  assert.deepEqual(planArrivals(again), []);
});

test('with equal priority the older pod comes first, and static pods before all', () => {
  const made = (name: string, creationTimestamp: string): Pod => {
    const plain = pod(name, name);
    return { ...plain, metadata: { ...plain.metadata, creationTimestamp } };
  };
  const desired = [made('b', '2026-01-01T00:00:02Z'), made('a', '2026-01-01T00:00:01Z'), pod('s', 's')];
  assert.deepEqual(uids(planArrivals({ desired, present: [], isAlive: () => false })), ['s', 'a', 'b']);
});

test('a static pod that its source lost and has again is restarted; one with edited labels or of the API server is not', () => {
  const seen = (time: string, source = 'file'): Pod => {
    const plain = pod('a', '1');
    const annotations = { 'kubernetes.io/config.source': source, 'kubernetes.io/config.seen': time };
    return { ...plain, metadata: { ...plain.metadata, annotations } };
  };
  const [first, same, later, own] = [seen('1'), seen('1'), seen('2'), seen('2', 'api')];
  assert.deepEqual(updateFor(first, later), { kind: 'removed', again: true });
  assert.deepEqual(updateFor(first, same), { kind: 'pod', pod: same });
  assert.deepEqual(updateFor(seen('1', 'api'), own), { kind: 'pod', pod: own });
  assert.equal(updateFor(first, first), undefined);
  assert.deepEqual(updateFor(first, undefined), { kind: 'removed' });
});
