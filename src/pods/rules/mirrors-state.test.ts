import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import {
  dueActions,
  isDeletedByAnother,
  type MirrorsEvent,
  type MirrorsState,
  mirrorsBackOff,
  nextMirrors,
} from './mirrors-state.ts';

const named = (uid: string): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid },
  spec: { containers: [] },
});
const pod = named('static');
const node = { name: 'node', uid: 'node-uid' };
const unlisted: MirrorsState = { step: 'unlisted' };
const walk = (...events: readonly MirrorsEvent[]) => events.reduce(nextMirrors, unlisted);
const listed = (...mirrors: readonly Pod[]): MirrorsEvent => ({ kind: 'listed', mirrors });
const created = (uid: string, now: number): MirrorsEvent => ({ kind: 'created', pod, mirror: named(uid), now });
const failed: MirrorsEvent = { kind: 'passed', hasFailed: true };
const uids = (state: MirrorsState) =>
  state.step === 'listed' ? state.mirrors.map(({ metadata }) => metadata.uid) : [];

test('mirrors: nothing counts before the API server has listed them', () => {
  assert.equal(walk(created('a', 0), failed, { kind: 'server-back' }), unlisted);
});

test('mirrors: what this kubelet created and deleted counts before the watch reports it', () => {
  assert.deepEqual(uids(walk(listed(named('a')), created('b', 0), created('b', 1))), ['a', 'b']);
  assert.deepEqual(uids(walk(listed(named('a')), created('b', 0), { kind: 'deleted', mirror: named('a') })), ['b']);
});

test('mirrors: one that is deleted again and again is created at once twice, then with growing delays; a list does not change that', () => {
  const create = { kind: 'create', pod, node } as const;
  const remove = { kind: 'delete', mirror: named('x'), reason: 'r' } as const;
  const twice = walk(listed(), created('a', 0), listed(), created('b', 1));
  assert.deepEqual(dueActions(twice, [create], 1), { actions: [create], retryAt: undefined });
  assert.equal(isDeletedByAnother(twice, pod), false);
  const thrice = nextMirrors(twice, created('c', 2));
  assert.equal(isDeletedByAnother(thrice, pod), true);
  assert.deepEqual(dueActions(thrice, [create, remove], 3), { actions: [remove], retryAt: 1002 });
  assert.deepEqual(dueActions(thrice, [create], 1002), { actions: [create], retryAt: undefined });
  const later = nextMirrors(thrice, created('d', 100_000));
  assert.equal(isDeletedByAnother(later, pod), false, 'forgotten after a minute');
});

test('mirrors: back-off after a failure, until a pass succeeds or the API server is back', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((times) =>
    mirrorsBackOff(walk(listed(), ...Array.from({ length: times }, () => failed)), 1),
  );
  assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 5000, 5000]);
  assert.equal(mirrorsBackOff(walk(listed(), failed), 0), 150);
  assert.equal(mirrorsBackOff(walk(listed(), failed, { kind: 'passed', hasFailed: false }), 1), undefined);
  assert.equal(mirrorsBackOff(walk(listed(), failed, { kind: 'server-back' }), 1), undefined);
  assert.equal(mirrorsBackOff(unlisted, 1), undefined);
});
