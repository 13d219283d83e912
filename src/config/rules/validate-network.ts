import { type IpAddress, isUnspecified, parseCidr, parseIpAddress } from '../../api/ip-address.ts';
import { isDnsSubdomain } from '../../api/names.ts';
import { type Findings, oneOf, problem, warning } from './finding.ts';
import type { ValidationInput } from './validation-input.ts';

const hairpinModes = ['promiscuous-bridge', 'hairpin-veth', 'none'];

export function* validateNetwork(input: ValidationInput): Findings {
  yield* oneOf('hairpinMode', input.kubelet.hairpinMode, hairpinModes);
  yield* validateListeners(input);
  yield* validateClusterDns(input);
  yield* validatePodCidr(input.kubelet.podCIDR);
  yield* validateNetworkPlugin(input);
  yield* validateStaticPodUrl(input.kubelet.staticPodURL);
  yield* validateNodeIps(input.settings.node.ips);
}

function* validateListeners({ kubelet }: ValidationInput): Findings {
  const { address, port, readOnlyPort, healthzPort, healthzBindAddress, enableServer } = kubelet;
  if ((enableServer || readOnlyPort > 0) && parseIpAddress(address) === undefined) {
    yield problem('address', address, 'must be an IP address');
  }
  if (enableServer && port === readOnlyPort) {
    yield problem('readOnlyPort', readOnlyPort, 'must differ from port: both listen on the same address');
  }
  if (healthzPort <= 0) return;
  if (parseIpAddress(healthzBindAddress) === undefined && !isDnsSubdomain(healthzBindAddress)) {
    yield warning('healthzBindAddress', healthzBindAddress, 'should be an IP address');
  }
  if ((enableServer && healthzPort === port) || healthzPort === readOnlyPort) {
    const other = healthzPort === readOnlyPort ? 'readOnlyPort' : 'port';
    yield warning('healthzPort', healthzPort, `should differ from ${other}: only one of them can listen`);
  }
}

function* validateClusterDns({ kubelet }: ValidationInput): Findings {
  for (const [index, text] of kubelet.clusterDNS.entries()) {
    if (parseIpAddress(text) === undefined) {
      yield warning(`clusterDNS[${index}]`, text, 'is not an IP address and is left out');
    }
  }
  const domain = kubelet.clusterDomain;
  if (domain !== '' && !isDnsSubdomain(domain.replace(/\.$/, ''))) {
    yield warning('clusterDomain', domain, 'should be a DNS name in lower case, such as cluster.local');
  }
}

function* validatePodCidr(text: string): Findings {
  if (text === '') return;
  if (text.split(',').some((part) => parseCidr(part.trim()) === undefined)) {
    yield warning('podCIDR', text, 'should be a network such as 10.244.0.0/24, or one of each family with a comma');
  }
}

/** A node without an API server has no other network for its pods than that of its own configuration. */
function* validateNetworkPlugin({ kubelet, settings }: ValidationInput): Findings {
  const { plugin } = settings.network;
  yield* oneOf('--network-plugin', plugin, ['', 'cni', 'kubenet']);
  if (plugin === 'kubenet' && kubelet.podCIDR === '' && settings.api.kubeconfig === '') {
    yield problem('--network-plugin', plugin, 'needs podCIDR on a node without an API server');
  }
}

function* validateStaticPodUrl(text: string): Findings {
  if (text === '') return;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || /\s/.test(text)) {
    yield warning('staticPodURL', text, 'should be a URL that begins with http:// or https://');
  }
}

/** Invalid addresses are ignored, as in the reference; of the others there may be one of each family. */
function* validateNodeIps(texts: readonly string[]): Findings {
  const addresses: IpAddress[] = [];
  for (const text of texts.map((item) => item.trim())) {
    const address = parseIpAddress(text);
    if (address === undefined) yield warning('--node-ip', text, 'is not an IP address and is left out');
    else addresses.push(address);
  }
  if (addresses.length > 2 || (addresses.length === 2 && addresses[0]?.family === addresses[1]?.family)) {
    yield problem('--node-ip', texts.join(','), 'must be one address, or one IPv4 and one IPv6 address');
  } else if (addresses.length === 2 && addresses.some(isUnspecified)) {
    yield problem('--node-ip', texts.join(','), "must not contain '0.0.0.0' or '::' when two addresses are given");
  }
}
