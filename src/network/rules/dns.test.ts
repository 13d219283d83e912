import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { computePodDns, type DnsSettings } from './dns.ts';

const settings: DnsSettings = {
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  host: { servers: ['192.0.2.1'], searches: ['corp', 'cluster.local'], options: ['timeout:1'] },
  nodeIps: ['192.0.2.10'],
};
const pod = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { containers: [], ...spec },
});
const dns = (spec: Partial<PodSpec>, more: Partial<DnsSettings> = {}) =>
  computePodDns(pod(spec), { ...settings, ...more });

test('policies', () => {
  const cluster = {
    servers: ['10.96.0.10'],
    searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp'],
    options: ['ndots:5'],
  };
  const cases: readonly (readonly [Partial<PodSpec>, object | undefined])[] = [
    [{ dnsPolicy: 'ClusterFirst' }, cluster],
    [{}, cluster],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, settings.host],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    [{ dnsPolicy: 'Default' }, settings.host],
    [{ dnsPolicy: 'None' }, { servers: [], searches: [], options: [] }],
  ];
  for (const [spec, want] of cases) assert.deepEqual(dns(spec), { config: want, warnings: [] }, JSON.stringify(spec));
});

test('without a domain the cluster adds none', () => {
  assert.deepEqual(dns({}, { clusterDomain: '' }).config.searches, ['corp', 'cluster.local']);
});

test('without a cluster DNS the resolvers of the node are used, and the pod gets an event', () => {
  const { config, warnings } = dns({ dnsPolicy: 'ClusterFirst' }, { clusterDns: [] });
  assert.deepEqual(config, settings.host);
  assert.deepEqual(warnings, [
    {
      reason: 'MissingClusterDNS',
      message:
        'pod: "web_shop(u)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
    },
  ]);
  assert.deepEqual(dns({ dnsPolicy: 'Default' }, { clusterDns: [] }).warnings, []);
});

test('without a resolv.conf the local machine is asked, in the families of the node', () => {
  const servers = (nodeIps: readonly string[]) => dns({ dnsPolicy: 'Default' }, { host: undefined, nodeIps }).config;
  assert.deepEqual(servers(['192.0.2.10']), { servers: ['127.0.0.1'], searches: ['.'], options: [] });
  assert.deepEqual(servers(['2001:db8::1', '192.0.2.10']).servers, ['::1', '127.0.0.1']);
  assert.deepEqual(servers([]).servers, ['127.0.0.1']);
  assert.deepEqual(dns({}, { host: undefined }).config.searches.length, 3);
});

test('what the pod adds comes after, once, and its options win', () => {
  const { config } = dns({
    dnsPolicy: 'ClusterFirst',
    dnsConfig: {
      nameservers: ['10.96.0.10', '192.0.2.53'],
      searches: ['corp', 'a.example'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }, { name: 'x', value: '' }],
    },
  });
  assert.deepEqual(config, {
    servers: ['10.96.0.10', '192.0.2.53'],
    searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp', 'a.example'],
    options: ['ndots:2', 'edns0', 'x'],
  });
});

test('three servers are the limit', () => {
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  const { config, warnings } = dns({ dnsPolicy: 'None', dnsConfig: { nameservers } });
  assert.deepEqual(config.servers, nameservers.slice(0, 3));
  assert.deepEqual(warnings, [
    {
      reason: 'DNSConfigForming',
      message:
        'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 192.0.2.1 192.0.2.2 192.0.2.3',
    },
  ]);
});

test('limits of the search line: 32 domains, 253 characters each, 2048 in all', () => {
  const searched = (searches: readonly string[]) => dns({ dnsPolicy: 'None', dnsConfig: { searches } });
  const short = Array.from({ length: 33 }, (_, index) => `d${index}`);
  assert.deepEqual(searched(short).config.searches, short.slice(0, 32));
  assert.deepEqual(searched(short.slice(0, 32)).warnings, []);
  assert.match(searched(short).warnings[0]?.message ?? '', /^Search Line limits were exceeded.* is: d0 d1 /);
  assert.deepEqual(searched(['a', 'b'.repeat(254), 'c']).config.searches, ['a', 'c']);
  assert.deepEqual(searched(['b'.repeat(253)]).warnings, []);
  // Eight of 255 with their spaces are 2047 characters; any more does not fit.
  const long = Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(252)}`);
  assert.deepEqual(searched(long).config.searches, long.slice(0, 8));
  assert.deepEqual(searched(long.slice(0, 8)).warnings, []);
});
