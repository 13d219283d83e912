import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { quantityFromUnits } from '../api/quantity.ts';
import type { Config } from '../config/config.ts';
import { createAdmission } from './admission.ts';

const pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], nodeSelector: { zone: 'a' } },
} as unknown as Pod;
const ALLOCATABLE = new Map([['pods', quantityFromUnits(10n, 'decimal')]]);
const config = {
  kubelet: { allowedUnsafeSysctls: ['net.core.somaxconn'] },
  features: { enabled: () => true },
} as unknown as Config;

const NO_PRESSURE = { memory: false, disk: false, pid: false };

test('a pod is admitted by the labels that the node has now', () => {
  const traits = { labels: { zone: 'b' }, taints: [] };
  const admit = createAdmission(
    {
      traits: () => traits,
      allocatable: () => ALLOCATABLE,
      strictGroups: () => undefined,
      pressure: () => NO_PRESSURE,
    },
    config,
    { nodeName: 'n', kernelVersion: '6.1.0', appArmor: false },
  );
  const verdict = admit(pod, []);
  assert.equal(verdict.kind === 'rejected' && verdict.reason, 'NodeAffinity');
  traits.labels.zone = 'a';
  assert.equal(admit(pod, []).kind, 'admitted');
});

test('a sysctl that the configuration allows is admitted, another one is not', () => {
  const admit = createAdmission(
    {
      traits: () => ({ labels: { zone: 'a' }, taints: [] }),
      allocatable: () => ALLOCATABLE,
      strictGroups: () => true,
      pressure: () => NO_PRESSURE,
    },
    config,
    { nodeName: 'n', kernelVersion: '6.1.0', appArmor: false },
  );
  const withSysctl = (name: string): Pod => ({
    ...pod,
    spec: { ...pod.spec, securityContext: { sysctls: [{ name, value: '1' }] } },
  });
  const reason = (name: string) => {
    const verdict = admit(withSysctl(name), []);
    return verdict.kind === 'rejected' ? verdict.reason : verdict.kind;
  };
  assert.notEqual(reason('net.core.somaxconn'), 'SysctlForbidden');
  assert.equal(reason('net.core.other'), 'SysctlForbidden');
});
