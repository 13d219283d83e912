import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import { waitingForObjects } from './waiting-for-objects.ts';

const view = (uid: string, namespace: string, reason: string) => ({
  uid: podUid(uid),
  pod: { metadata: { name: uid, namespace, uid }, spec: { containers: [] } },
  memory: new Map([['c', { waiting: { reason, message: '' }, failedHooks: new Set<never>() }]]),
});

test('a config map or secret wakes the pods of its namespace that wait for their configuration', () => {
  const views = [
    view('a', 'n', 'CreateContainerConfigError'),
    view('b', 'n', 'ErrImagePull'),
    view('c', 'other', 'CreateContainerConfigError'),
  ];
  assert.deepEqual(waitingForObjects(views, { kind: 'configMap', namespace: 'n' }), ['a']);
  assert.deepEqual(waitingForObjects(views, { kind: 'secret', namespace: 'other' }), ['c']);
  assert.deepEqual(waitingForObjects(views, { kind: 'serviceAccount', namespace: 'n' }), []);
});
