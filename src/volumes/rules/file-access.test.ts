import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { commonUser, credentialAccess, directoryMode, fileMode, rootMode } from './file-access.ts';

const podWith = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const as = (runAsUser?: number) => ({ name: 'c', securityContext: runAsUser === undefined ? {} : { runAsUser } });

describe('the user that all containers share', () => {
  const cases: readonly (readonly [string, Partial<PodSpec>, number | undefined])[] = [
    ['no one says', {}, undefined],
    ['the pod says', { securityContext: { runAsUser: 1000 } }, 1000],
    ['all containers say the same', { containers: [as(7), as(7)] }, 7],
    ['root is a user too', { containers: [as(0)] }, 0],
    ['one does not say', { containers: [as(7), as()] }, undefined],
    ['one falls back to the pod', { securityContext: { runAsUser: 7 }, containers: [as(7), as()] }, 7],
    ['two users', { containers: [as(7), as(8)] }, undefined],
    ['an init container differs', { containers: [as(7)], initContainers: [as(8)] }, undefined],
    ['an ephemeral container differs', { containers: [as(7)], ephemeralContainers: [as(0)] }, undefined],
  ];
  for (const [name, spec, user] of cases) test(name, () => assert.equal(commonUser(podWith(spec)), user));
});

test('credentials are as closed as they can be', () => {
  assert.deepEqual(credentialAccess(podWith({}), undefined, 0o644), { mode: 0o644 });
  assert.deepEqual(credentialAccess(podWith({}), 3000, 0o644), { mode: 0o600 });
  assert.deepEqual(credentialAccess(podWith({ containers: [as(5)] }), undefined, 0o644), { mode: 0o600, owner: 5 });
});

test('a group reads everything, writes nothing, and what is made in a directory is its own', () => {
  assert.equal(fileMode(0o600, 3000), 0o640);
  assert.equal(fileMode(0o400, 3000), 0o440);
  assert.equal(fileMode(0o600, undefined), 0o600);
  assert.equal(directoryMode(0o755, 3000), 0o2755);
  assert.equal(directoryMode(0o700, 0), 0o2750);
  assert.equal(directoryMode(0o755, undefined), 0o755);
  assert.equal(rootMode(0o1777, 3000), 0o3777);
  assert.equal(rootMode(0o777, undefined), 0o777);
});
