import { judgeAll, type Surroundings } from '../judge-testing.ts';
import { defaultSettings } from '../settings.ts';

function withNodeIps(...ips: string[]): Surroundings {
  return { settings: { node: { ...defaultSettings.node, ips } } };
}

judgeAll({
  'hairpin modes': { config: { hairpinMode: 'hairpin-veth' } },
  'hairpin mode unknown': { config: { hairpinMode: 'moon' }, problems: [/^hairpinMode: must be "promiscuous-bridge"/] },
  'address v6': { config: { address: '::' } },
  'address unreadable': { config: { address: 'localhost' }, problems: [/^address: must be an IP address/] },
  'address unreadable, no one listens': { config: { address: 'localhost', enableServer: false } },
  'ports of the servers equal': { config: { readOnlyPort: 10250 }, problems: [/^readOnlyPort: must differ from port/] },
  'health port taken': { config: { healthzPort: 10250 }, warnings: [/^healthzPort: should differ from port/] },
  'health address by name': { config: { healthzBindAddress: 'localhost' } },
  'health address unreadable': { config: { healthzBindAddress: 'local host' }, warnings: ['healthzBindAddress'] },
  'health address unreadable, not used': { config: { healthzBindAddress: 'local host', healthzPort: 0 } },
  'cluster DNS': { config: { clusterDNS: ['10.96.0.10', 'fd00::a'], clusterDomain: 'cluster.local.' } },
  'cluster DNS, one unreadable': {
    config: { clusterDNS: ['10.96.0.10', 'dns.example'], clusterDomain: 'Cluster Local' },
    warnings: ['clusterDNS[1]', 'clusterDomain'],
  },
  'pod CIDRs': { config: { podCIDR: '10.244.0.0/24,fd00::/64' } },
  'pod CIDR unreadable': { config: { podCIDR: '10.244.0.0' }, warnings: ['podCIDR'] },
  'static pod URL': { config: { staticPodURL: 'https://example.com/pods.yaml?x=1' } },
  'static pod URL, none': { config: { staticPodURL: 'not a url' }, warnings: ['staticPodURL'] },
  'static pod URL of another kind': { config: { staticPodURL: 'ftp://example.com/' }, warnings: ['staticPodURL'] },
  'node address': { config: {}, around: withNodeIps('0.0.0.0') },
  'node addresses of both families': { config: {}, around: withNodeIps('192.0.2.1', ' fd00::1 ') },
  'node address unreadable': {
    config: {},
    around: withNodeIps('1.2.3'),
    warnings: [/^--node-ip: is not an IP address/],
  },
  'node addresses of one family': {
    config: {},
    around: withNodeIps('192.0.2.1', '192.0.2.2'),
    problems: [/^--node-ip: must be one address, or one IPv4 and one IPv6/],
  },
  'three node addresses': {
    config: {},
    around: withNodeIps('192.0.2.1', 'fd00::1', '192.0.2.2'),
    problems: ['--node-ip'],
  },
  'any address as one of two': {
    config: {},
    around: withNodeIps('192.0.2.1', '::'),
    problems: [/^--node-ip: must not contain '0\.0\.0\.0'/],
  },
});
