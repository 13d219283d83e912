/** Which resolver settings a pod gets. */
import type { Pod, PodDnsConfig } from '../../api/pod.ts';
import { podTitle } from '../../api/pod-traits.ts';
import { quoteText } from '../../base/go-text.ts';
import { type DnsConfig, emptyDnsConfig, mergeOptions } from './resolv-conf.ts';

const MOST_SERVERS = 3;
const MOST_SEARCHES = 32;
const MOST_SEARCH_CHARS = 2048;
const LONGEST_SEARCH = 253;
const CLUSTER_OPTIONS = ['ndots:5'];

export interface DnsSettings {
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** The node's own resolv.conf; undefined where the kubelet is configured to use none. */
  readonly host: DnsConfig | undefined;
  readonly nodeIps: readonly string[];
}

export interface PodDns {
  readonly config: DnsConfig;
  /** Warning events for the pod. */
  readonly warnings: readonly DnsWarning[];
}

export interface DnsWarning {
  readonly reason: 'DNSConfigForming' | 'MissingClusterDNS';
  readonly message: string;
}

export function computePodDns(pod: Pod, settings: DnsSettings): PodDns {
  const policy = effectivePolicy(pod);
  const missing = policy === 'ClusterFirst' && settings.clusterDns.length === 0;
  const base = missing ? hostDns(settings) : policyDns(policy, pod, settings);
  const requested = pod.spec.dnsConfig === undefined ? base : addPodConfig(base, pod.spec.dnsConfig);
  const { config, warnings } = keepToLimits(requested);
  return { config, warnings: missing ? [missingClusterDns(pod), ...warnings] : warnings };
}

type Policy = 'ClusterFirst' | 'Default' | 'None';

/** A pod on the node's network resolves as the node does, unless its policy asks for the cluster's names all the same. */
function effectivePolicy(pod: Pod): Policy {
  switch (pod.spec.dnsPolicy) {
    case 'None':
    case 'Default':
      return pod.spec.dnsPolicy;
    case 'ClusterFirstWithHostNet':
      return 'ClusterFirst';
    default:
      return pod.spec.hostNetwork ? 'Default' : 'ClusterFirst';
  }
}

function policyDns(policy: Policy, pod: Pod, settings: DnsSettings): DnsConfig {
  if (policy === 'None') return emptyDnsConfig;
  return policy === 'Default' ? hostDns(settings) : clusterDns(pod, settings);
}

function clusterDns(pod: Pod, { clusterDns, clusterDomain, host = emptyDnsConfig }: DnsSettings): DnsConfig {
  const ofCluster =
    clusterDomain === ''
      ? []
      : [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { servers: clusterDns, searches: unique([...ofCluster, ...host.searches]), options: CLUSTER_OPTIONS };
}

/** With no resolv.conf at all a resolver asks the local machine; this is written out, so that the runtime does not mount its own file. */
function hostDns({ host, nodeIps }: DnsSettings): DnsConfig {
  if (host !== undefined) return host;
  const local = nodeIps.map((ip) => (ip.includes(':') ? '::1' : '127.0.0.1'));
  return { servers: local.length === 0 ? ['127.0.0.1'] : local, searches: ['.'], options: [] };
}

function addPodConfig(base: DnsConfig, { nameservers = [], searches = [], options = [] }: PodDnsConfig): DnsConfig {
  const requested = options.map(({ name = '', value }) => (value ? `${name}:${value}` : name));
  return {
    servers: unique([...base.servers, ...nameservers]),
    searches: unique([...base.searches, ...searches]),
    options: mergeOptions(base.options, requested),
  };
}

/** Resolver libraries stop reading, or crash, above these. */
function keepToLimits({ servers, searches, options }: DnsConfig): PodDns {
  const warnings: DnsWarning[] = [];
  const keptServers = servers.slice(0, MOST_SERVERS);
  if (keptServers.length < servers.length) {
    const line = keptServers.join(' ');
    warnings.push(
      forming(
        `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${line}`,
      ),
    );
  }
  const keptSearches = fittingSearches(searches);
  if (keptSearches.length < searches.length) {
    const line = keptSearches.join(' ');
    warnings.push(
      forming(
        `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${line}`,
      ),
    );
  }
  return { config: { servers: keptServers, searches: keptSearches, options }, warnings };
}

function fittingSearches(searches: readonly string[]): readonly string[] {
  const allowed = searches.slice(0, MOST_SEARCHES).filter((search) => search.length <= LONGEST_SEARCH);
  while (allowed.join(' ').length > MOST_SEARCH_CHARS) allowed.pop();
  return allowed;
}

function forming(message: string): DnsWarning {
  return { reason: 'DNSConfigForming', message };
}

function missingClusterDns(pod: Pod): DnsWarning {
  const what = 'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy.';
  const message = `pod: ${quoteText(podTitle(pod))}. ${what} Falling back to "Default" policy.`;
  return { reason: 'MissingClusterDNS', message };
}

function unique(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
