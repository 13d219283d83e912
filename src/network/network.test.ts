import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../api/pod.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createNetwork, type NetworkConfig } from './network.ts';

const config: NetworkConfig = {
  clusterDns: [],
  clusterDomain: 'cluster.local',
  resolvConf: '/etc/resolv.conf',
  hostnameOverride: true,
};
const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { containers: [], ...spec },
});

function networkWith(files: Record<string, string>, more: Partial<NetworkConfig> = {}, clock = createManualClock()) {
  const readTextFile = (path: string) =>
    files[path] === undefined ? Promise.reject(new Error('no such file or directory')) : Promise.resolve(files[path]);
  return createNetwork({ mono: clock.mono, readTextFile, nodeIps: () => ['2001:db8::1'] }, { ...config, ...more });
}

test('the resolv.conf of the node is read again for pods that do not start together', async () => {
  const files = { '/etc/resolv.conf': 'nameserver 192.0.2.1' };
  const clock = createManualClock();
  const network = networkWith(files, {}, clock);
  const servers = async () => {
    const dns = await network.dnsOf(pod({ dnsPolicy: 'Default' }));
    return dns.ok ? dns.value.config.servers : dns.problem;
  };
  assert.deepEqual(await servers(), ['192.0.2.1']);
  files['/etc/resolv.conf'] = 'nameserver 192.0.2.2';
  assert.deepEqual(await servers(), ['192.0.2.1']);
  await clock.advance(1000);
  assert.deepEqual(await servers(), ['192.0.2.2']);
  files['/etc/resolv.conf'] = 'nameserver';
  await clock.advance(1000);
  assert.equal(await servers(), '/etc/resolv.conf: nameserver list is empty');
});

test('a file that can not be read is a problem that names it', async () => {
  const network = networkWith({});
  assert.deepEqual(await network.dnsOf(pod({})), { ok: false, problem: '/etc/resolv.conf: no such file or directory' });
  assert.deepEqual(await network.hostsFileOf(pod({ hostNetwork: true }), []), {
    ok: false,
    problem: '/etc/hosts: no such file or directory',
  });
});

test('no resolv.conf at all is a setting, not a problem', async () => {
  const dns = await networkWith({}, { resolvConf: '' }).dnsOf(pod({ dnsPolicy: 'Default' }));
  assert.deepEqual(dns, {
    ok: true,
    value: { config: { servers: ['::1'], searches: ['.'], options: [] }, warnings: [] },
  });
});

test('a name that can not be is a problem of the hosts file too', async () => {
  const hosts = await networkWith({}).hostsFileOf(pod({ hostname: 'Bad' }), ['10.0.0.7']);
  assert.deepEqual(hosts, { ok: false, problem: 'pod Hostname "Bad" is not a valid DNS label' });
});
