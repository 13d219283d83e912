import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, SecurityContext } from '../../api/container.ts';
import type { Pod, PodSecurityContext } from '../../api/pod.ts';
import { type ImageUser, imageUserOf, nonRootFault } from './user.ts';

test('the user of an image', () => {
  assert.deepEqual(imageUserOf({ uid: 7, username: 'x' }), { kind: 'uid', uid: 7 });
  assert.deepEqual(imageUserOf({ uid: undefined, username: 'x' }), { kind: 'name', name: 'x' });
  assert.deepEqual(imageUserOf({ uid: undefined, username: '' }), { kind: 'uid', uid: 0 });
});

test('runAsNonRoot against what the image says', () => {
  const where = '(pod: "web_shop(u-1)", container: c)';
  const uid = (value: number): ImageUser => ({ kind: 'uid', uid: value });
  const cases: readonly { own?: SecurityContext; shared?: PodSecurityContext; user: ImageUser; want?: string }[] = [
    { user: uid(0) },
    { own: { runAsNonRoot: false }, shared: { runAsNonRoot: true }, user: uid(0) },
    { own: { runAsNonRoot: true }, user: uid(1) },
    {
      own: { runAsNonRoot: true },
      user: uid(0),
      want: `container has runAsNonRoot and image will run as root ${where}`,
    },
    {
      shared: { runAsNonRoot: true },
      user: uid(0),
      want: `container has runAsNonRoot and image will run as root ${where}`,
    },
    { own: { runAsNonRoot: true, runAsUser: 5 }, user: uid(0) },
    {
      own: { runAsNonRoot: true, runAsUser: 0 },
      user: uid(5),
      want: `container's runAsUser breaks non-root policy ${where}`,
    },
    {
      own: { runAsNonRoot: true },
      shared: { runAsUser: 0 },
      user: uid(5),
      want: `container's runAsUser breaks non-root policy ${where}`,
    },
    { own: { runAsNonRoot: true, runAsUser: 5 }, user: { kind: 'name', name: 'web' } },
    {
      own: { runAsNonRoot: true },
      user: { kind: 'name', name: 'web' },
      want: `container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root ${where}`,
    },
    {
      own: { runAsNonRoot: true },
      user: uid(2_147_483_648),
      want: `container has runAsNonRoot and image has an invalid user id (2147483648). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive ${where}`,
    },
  ];
  for (const { own = {}, shared = {}, user, want } of cases) {
    const container: Container = { name: 'c', securityContext: own };
    const pod: Pod = {
      metadata: { name: 'web', namespace: 'shop', uid: 'u-1' },
      spec: { containers: [container], securityContext: shared },
    };
    assert.equal(nonRootFault(pod, container, user), want, JSON.stringify({ own, shared, user }));
  }
});
