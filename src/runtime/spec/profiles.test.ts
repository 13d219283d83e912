import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, SeccompProfile } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { SecurityProfileProfileType as Type } from '../../wire/gen/cri-runtime-v1.ts';
import { appArmorProfile, seccompProfile } from './profiles.ts';

const container = (profile?: SeccompProfile): Container => ({
  name: 'c',
  securityContext: profile ? { seccompProfile: profile, appArmorProfile: profile } : {},
});
const pod = (profile?: SeccompProfile, annotations: Record<string, string> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', annotations },
  spec: { containers: [], securityContext: profile ? { seccompProfile: profile, appArmorProfile: profile } : {} },
});
const seccomp = (own?: SeccompProfile, shared?: SeccompProfile, seccompDefault = false) => {
  const made = seccompProfile(pod(shared), container(own), {
    seccompDefault,
    seccompProfileRoot: '/var/lib/kubelet/seccomp',
  });
  return made.ok ? made.value : made.problem;
};

test('seccomp: own, of the pod, of the node', () => {
  assert.deepEqual(seccomp(), { profileType: Type.Unconfined });
  assert.deepEqual(seccomp(undefined, undefined, true), { profileType: Type.RuntimeDefault });
  assert.deepEqual(seccomp(undefined, { type: 'RuntimeDefault' }), { profileType: Type.RuntimeDefault });
  assert.deepEqual(seccomp({ type: 'Unconfined' }, { type: 'RuntimeDefault' }, true), { profileType: Type.Unconfined });
  assert.deepEqual(seccomp({ type: 'Localhost', localhostProfile: 'a/../b//x.json' }), {
    profileType: Type.Localhost,
    localhostRef: '/var/lib/kubelet/seccomp/b/x.json',
  });
  for (const localhostProfile of [undefined, '']) {
    const profile = { type: 'Localhost', ...(localhostProfile === undefined ? {} : { localhostProfile }) } as const;
    assert.equal(seccomp(profile), 'localhostProfile must be set if seccompProfile type is Localhost.');
  }
});

test('AppArmor: own, annotation, of the pod; always with the old form beside it', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const appArmor = (of: Pod, own?: SeccompProfile) => {
    const made = appArmorProfile(of, container(own));
    return made.ok
      ? [made.value.profile?.profileType, made.value.profile?.localhostRef, made.value.oldForm]
      : made.problem;
  };
  assert.deepEqual(appArmor(pod()), [undefined, undefined, '']);
  assert.deepEqual(appArmor(pod({ type: 'Unconfined' })), [Type.Unconfined, undefined, 'unconfined']);
  assert.deepEqual(appArmor(pod({ type: 'Unconfined' }), { type: 'RuntimeDefault' }), [
    Type.RuntimeDefault,
    undefined,
    'runtime/default',
  ]);
  assert.deepEqual(appArmor(pod(), { type: 'Localhost', localhostProfile: 'x' }), [Type.Localhost, 'x', 'localhost/x']);
  assert.equal(appArmor(pod(), { type: 'Localhost' }), 'missing localhost apparmor profile name');
  assert.deepEqual(appArmor(pod({ type: 'Unconfined' }, { [key]: 'runtime/default' })), [
    Type.RuntimeDefault,
    undefined,
    'runtime/default',
  ]);
  assert.deepEqual(appArmor(pod(undefined, { [key]: 'localhost/y' })), [Type.Localhost, 'y', 'localhost/y']);
  assert.deepEqual(appArmor(pod(undefined, { [key]: 'unconfined' })), [Type.Unconfined, undefined, 'unconfined']);
  assert.deepEqual(appArmor(pod(undefined, { [key]: 'nonsense' })), [undefined, undefined, '']);
  const unknown = { type: 'Odd' } as unknown as SeccompProfile;
  assert.equal(appArmor(pod(), unknown), 'unknown apparmor profile type: "Odd"');
});
