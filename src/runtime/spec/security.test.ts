import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, SecurityContext } from '../../api/container.ts';
import type { Pod, PodSecurityContext, PodSpec } from '../../api/pod.ts';
import { NamespaceMode, SupplementalGroupsPolicy } from '../../wire/gen/cri-runtime-v1.ts';
import { effectiveSecurity } from './effective-security.ts';
import { containerSecurity, type SecurityInput } from './security.ts';

const settings = { seccompDefault: false, seccompProfileRoot: '/r', selinux: false, thermalPaths: [] };

function input(
  own: SecurityContext | undefined,
  shared?: PodSecurityContext,
  more: Partial<SecurityInput> & { spec?: Partial<PodSpec> } = {},
): SecurityInput {
  const container: Container = { name: 'c', ...(own && { securityContext: own }) };
  const spec: PodSpec = { containers: [container], ...(shared && { securityContext: shared }), ...more.spec };
  const pod: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec };
  return {
    pod,
    container,
    imageUser: { kind: 'uid', uid: 0 },
    userNamespace: undefined,
    targetId: undefined,
    extraGroups: [],
    settings,
    ...more,
  };
}

function context(...words: Parameters<typeof input>) {
  const made = containerSecurity(input(...words));
  assert.ok(made.kind === 'ready', made.kind === 'problem' ? made.message : '');
  return made.context;
}

test('what the container says wins over what its pod says', () => {
  const { pod, container } = input(
    { runAsUser: 0, runAsNonRoot: false },
    { runAsUser: 7, runAsGroup: 8, runAsNonRoot: true, seLinuxOptions: { level: 's0' } },
  );
  assert.deepEqual(effectiveSecurity(pod, container), {
    runAsUser: 0,
    runAsGroup: 8,
    runAsNonRoot: false,
    seLinuxOptions: { level: 's0' },
  });
});

test('who it runs as', () => {
  const named = { imageUser: { kind: 'name', name: 'web' } } as const;
  const numbered = { imageUser: { kind: 'uid', uid: 1234 } } as const;
  const cases: readonly { words: Parameters<typeof input>; user?: number; name?: string }[] = [
    { words: [undefined], user: 0 },
    { words: [undefined, undefined, numbered], user: 1234 },
    { words: [undefined, undefined, named], name: 'web' },
    { words: [undefined, { runAsUser: 9 }, named], user: 9 },
    { words: [{ runAsUser: 0 }, { runAsUser: 9 }, numbered], user: 0 },
  ];
  for (const { words, user, name } of cases) {
    const { runAsUser, runAsUsername } = context(...words);
    assert.equal(runAsUser?.value, user);
    assert.equal(runAsUsername, name);
  }
  assert.equal(context(undefined).runAsGroup, undefined);
  assert.deepEqual(context(undefined, { runAsGroup: 0 }).runAsGroup, { value: 0 });
});

test('groups: of volumes, of the pod, of the persistent volumes', () => {
  const groups = context(
    undefined,
    { fsGroup: 1, supplementalGroups: [2, 3], supplementalGroupsPolicy: 'Strict' },
    { extraGroups: [4] },
  );
  assert.deepEqual(groups.supplementalGroups, [1, 2, 3, 4]);
  assert.equal(groups.supplementalGroupsPolicy, SupplementalGroupsPolicy.Strict);
  assert.equal(context(undefined).supplementalGroupsPolicy, SupplementalGroupsPolicy.Merge);
  const unknown = { supplementalGroupsPolicy: 'Loose' } as unknown as PodSecurityContext;
  const made = containerSecurity(input(undefined, unknown));
  assert.ok(made.kind === 'problem');
  assert.equal(made.message, 'unsupported supplementalGroupsPolicy: Loose');
});

test('capabilities, privileges, root file system', () => {
  const strict = context({
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  });
  assert.deepEqual(strict.capabilities, { addCapabilities: [], dropCapabilities: ['ALL'] });
  assert.equal(strict.readonlyRootfs, true);
  assert.equal(strict.noNewPrivs, true);
  const plain = context(undefined);
  assert.equal(plain.capabilities, undefined);
  assert.equal(plain.privileged, false);
  assert.equal(plain.noNewPrivs, false);
  assert.equal(context({ allowPrivilegeEscalation: true }).noNewPrivs, false);
  assert.equal(context({ privileged: true }).privileged, true);
  assert.deepEqual(context(undefined, { seLinuxOptions: { type: 't', level: 'l' } }).selinuxOptions, {
    type: 't',
    level: 'l',
  });
});

test('paths of /proc and /sys, with the thermal counters of this machine', () => {
  const thermal = '/sys/devices/system/cpu/cpu0/thermal_throttle';
  const hot = { settings: { ...settings, thermalPaths: [thermal] } };
  assert.equal(context(undefined, undefined, hot).maskedPaths?.at(-1), thermal);
  assert.ok(context({ procMount: 'Default' }).readonlyPaths?.includes('/proc/sys'));
  const bare = context({ procMount: 'Unmasked' }, undefined, hot);
  assert.deepEqual([bare.maskedPaths, bare.readonlyPaths], [[], []]);
});

test('an ephemeral container sees the processes of its target, unless all share them anyway', () => {
  const own = context(undefined, undefined, { targetId: 'abc' }).namespaceOptions;
  assert.deepEqual([own?.pid, own?.targetId], [NamespaceMode.TARGET, 'abc']);
  const shared = context(undefined, undefined, {
    targetId: 'abc',
    spec: { shareProcessNamespace: true },
  }).namespaceOptions;
  assert.deepEqual([shared?.pid, shared?.targetId], [NamespaceMode.POD, undefined]);
});

test('a profile that can not be is a problem of the container', () => {
  const seccomp = containerSecurity(input({ seccompProfile: { type: 'Localhost' } }));
  assert.deepEqual(seccomp, {
    kind: 'problem',
    reason: 'CreateContainerConfigError',
    message: 'localhostProfile must be set if seccompProfile type is Localhost.',
  });
  const appArmor = containerSecurity(input({ appArmorProfile: { type: 'Localhost' } }));
  assert.ok(appArmor.kind === 'problem');
});
