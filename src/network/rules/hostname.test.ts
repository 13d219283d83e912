import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../api/pod.ts';
import { computeHostname } from './hostname.ts';

const names = (spec: Partial<PodSpec>, name = 'web', override = true) => {
  const pod = { metadata: { name, namespace: 'shop', uid: 'u' }, spec: { containers: [], ...spec } };
  const made = computeHostname(pod, { clusterDomain: 'cluster.local', override });
  return made.ok ? [made.value.hostname, made.value.domain, made.value.kernelName] : made.problem;
};

test('what a pod is called', () => {
  const domain = 'sub.shop.svc.cluster.local';
  assert.deepEqual(names({}), ['web', '', 'web']);
  assert.deepEqual(names({ hostname: 'box' }), ['box', '', 'box']);
  assert.deepEqual(names({ subdomain: 'sub' }), ['web', domain, 'web']);
  assert.deepEqual(names({ hostname: 'box', subdomain: 'sub', setHostnameAsFQDN: true }), [
    'box',
    domain,
    `box.${domain}`,
  ]);
  assert.deepEqual(names({ setHostnameAsFQDN: true }), ['web', '', 'web'], 'without a domain the short name is full');
  assert.deepEqual(names({ hostnameOverride: 'a.b.example', hostname: 'box', subdomain: 'sub' }), [
    'a.b.example',
    '',
    'a.b.example',
  ]);
  assert.deepEqual(names({ hostnameOverride: 'a.b.example' }, 'web', false), ['web', '', 'web']);
});

test('long names are cut, and end neither in a dot nor in a dash', () => {
  assert.deepEqual(names({}, `${'x'.repeat(63)}y`), ['x'.repeat(63), '', 'x'.repeat(63)]);
  assert.deepEqual(names({}, `${'x'.repeat(61)}.-y`)[0], 'x'.repeat(61));
  assert.deepEqual(names({ hostnameOverride: `${'x'.repeat(62)}.yy` })[0], 'x'.repeat(62));
});

test('names that can not be', () => {
  assert.equal(names({ hostname: 'a.b' }), 'pod Hostname "a.b" is not a valid DNS label');
  assert.equal(names({ hostname: 'x'.repeat(64) }), `pod Hostname "${'x'.repeat(64)}" is not a valid DNS label`);
  assert.equal(names({ subdomain: 'Sub' }), 'pod Subdomain "Sub" is not a valid DNS label');
  assert.equal(names({ hostnameOverride: 'a_b' }), 'pod HostnameOverride "a_b" is not a valid DNS subdomain');
  assert.equal(
    names({ subdomain: 'sub', setHostnameAsFQDN: true }, 'x'.repeat(38)),
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'x'.repeat(38)}.sub.shop.svc.cluster.local is too long (64 characters is the max, 65 characters requested)`,
  );
  assert.equal(typeof names({ subdomain: 'sub', setHostnameAsFQDN: true }, 'x'.repeat(37)), 'object');
});
