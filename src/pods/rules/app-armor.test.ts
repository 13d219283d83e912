import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { appArmorFault } from './app-armor.ts';

const base: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [{ name: 'c' }] } };
const withProfile = (type: 'Unconfined' | 'RuntimeDefault' | 'Localhost', localhostProfile?: string): Pod => ({
  ...base,
  spec: {
    containers: [
      {
        name: 'c',
        securityContext: { appArmorProfile: { type, ...(localhostProfile === undefined ? {} : { localhostProfile }) } },
      },
    ],
  },
});
const annotated = (value: string): Pod => ({
  ...base,
  metadata: { ...base.metadata, annotations: { 'container.apparmor.security.beta.kubernetes.io/c': value } },
});

test('a profile needs a host with AppArmor', () => {
  const cases: readonly (readonly [string, Pod, boolean])[] = [
    ['none', base, true],
    ['unconfined', withProfile('Unconfined'), true],
    ["the runtime's", withProfile('RuntimeDefault'), false],
    ['a file', withProfile('Localhost', 'x'), false],
    ['annotation', annotated('runtime/default'), false],
    ['unconfined by annotation', annotated('unconfined'), true],
  ];
  for (const [name, pod, isFine] of cases) {
    assert.equal(appArmorFault(pod, false), isFine ? undefined : 'AppArmor is not enabled on the host', name);
    assert.equal(appArmorFault(pod, true), undefined, name);
  }
});

test('a local profile needs a name', () => {
  assert.match(appArmorFault(withProfile('Localhost', ' '), true) ?? '', /empty AppArmor profile name/);
});
