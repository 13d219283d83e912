import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settings } from '../../../tests/recorded/node.ts';
import type { Pod, PodSecurityContext, PodSpec } from '../../api/pod.ts';
import { SecurityProfileProfileType, SupplementalGroupsPolicy } from '../../wire/gen/cri-runtime-v1.ts';
import { makeSandboxConfig, podLogDirectory, type SandboxInput } from './sandbox.ts';

function make(spec: Partial<PodSpec>, more: Partial<SandboxInput> = {}) {
  const pod: Pod = { metadata: { name: 'web', namespace: 'shop', uid: 'u' }, spec: { containers: [], ...spec } };
  const made = makeSandboxConfig({
    pod,
    attempt: 2,
    hostname: 'host',
    dns: {},
    podLogsDirectory: '/var/log/pods',
    cgroupParent: '/kubepods/podu',
    userNamespace: undefined,
    extraGroups: [],
    exclusiveCpus: false,
    settings,
    gates: () => true,
    ...more,
  });
  assert.ok(made.kind === 'ready', made.kind === 'problem' ? made.message : '');
  return made.config;
}

test('identity, place of logs, host name', () => {
  const config = make({});
  assert.deepEqual(config.metadata, { name: 'web', namespace: 'shop', uid: 'u', attempt: 2 });
  assert.equal(config.logDirectory, '/var/log/pods/shop_web_u');
  assert.equal(
    podLogDirectory('/logs', { metadata: { name: 'a', namespace: 'b', uid: 'c' }, spec: { containers: [] } }),
    '/logs/b_a_c',
  );
  assert.equal(config.hostname, 'host');
  assert.equal(make({ hostNetwork: true }).hostname, '', 'the name of the node is not ours to set');
});

test('security: what the pod says for all, privileged if any container is', () => {
  const context = (
    securityContext: PodSecurityContext,
    spec: Partial<PodSpec> = {},
    more: Partial<SandboxInput> = {},
  ) => make({ securityContext, ...spec }, more).linux?.securityContext;
  const full = context(
    {
      runAsUser: 1,
      runAsGroup: 2,
      fsGroup: 3,
      supplementalGroups: [5],
      supplementalGroupsPolicy: 'Strict',
      seLinuxOptions: { level: 's0' },
    },
    {},
    { extraGroups: [4] },
  );
  assert.deepEqual([full?.runAsUser?.value, full?.runAsGroup?.value], [1, 2]);
  assert.deepEqual(full?.supplementalGroups, [3, 4, 5]);
  assert.equal(full?.supplementalGroupsPolicy, SupplementalGroupsPolicy.Strict);
  assert.deepEqual(full?.selinuxOptions, { level: 's0' });
  assert.equal(full?.privileged, false);
  const loud = { name: 'x', securityContext: { privileged: true } };
  for (const spec of [{ containers: [loud] }, { initContainers: [loud] }, { ephemeralContainers: [loud] }]) {
    assert.equal(context({}, spec)?.privileged, true, JSON.stringify(spec));
  }
  const unconfined = context({ seccompProfile: { type: 'Unconfined' } });
  assert.equal(unconfined?.seccomp?.profileType, SecurityProfileProfileType.RuntimeDefault);
});

test('kernel parameters; the last value of one wins', () => {
  const sysctls = [
    { name: 'a.b', value: '1' },
    { name: 'c', value: '2' },
    { name: 'a.b', value: '3' },
  ];
  assert.deepEqual(make({ securityContext: { sysctls } }).linux?.sysctls, { 'a.b': '3', c: '2' });
});

test('a policy for groups that no one knows', () => {
  const securityContext = { supplementalGroupsPolicy: 'Loose' } as unknown as PodSecurityContext;
  assert.throws(() => make({ securityContext }), /unsupported supplementalGroupsPolicy: Loose/);
});
