/** Names on the network as a pod's containers see them: their own, and the resolvers for others. */

import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import type { Pod } from '../api/pod.ts';
import { describeError } from '../base/errors.ts';
import { keptFor } from '../base/kept.ts';
import { computePodDns, type PodDns } from './rules/dns.ts';
import { computeHostname, type PodHostname } from './rules/hostname.ts';
import { managedHosts, nodeHosts } from './rules/hosts-file.ts';
import { type DnsConfig, parseResolvConf } from './rules/resolv-conf.ts';

export interface NetworkDeps {
  /** Monotonic milliseconds. */
  readonly mono: () => number;
  readonly readTextFile: (path: string) => Promise<string>;
  /** The node's addresses as they are now, the primary one first. */
  readonly nodeIps: () => readonly string[];
}

export interface NetworkConfig {
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Path of the node's resolv.conf; empty for none. */
  readonly resolvConf: string;
  /** The gate HostnameOverride. */
  readonly hostnameOverride: boolean;
}

/** Problems are texts for the event about a pod that does not start. */
export interface Network {
  hostnameOf(pod: Pod): Parsed<PodHostname>;
  dnsOf(pod: Pod): Promise<Parsed<PodDns>>;
  /** Content of the file that is mounted as /etc/hosts. */
  hostsFileOf(pod: Pod, podIps: readonly string[]): Promise<Parsed<string>>;
}

/** The file changes with the node's network; pods that start together read it together. */
const HOST_DNS_KEPT_MS = 1000;
const NODE_HOSTS_FILE = '/etc/hosts';

export function createNetwork({ mono, readTextFile, nodeIps }: NetworkDeps, config: NetworkConfig): Network {
  const { clusterDns, clusterDomain, resolvConf } = config;
  const hostnameOf = (pod: Pod) => computeHostname(pod, { clusterDomain, override: config.hostnameOverride });

  async function read(path: string): Promise<Parsed<string>> {
    try {
      return parsed(await readTextFile(path));
    } catch (error) {
      return unparsable(`${path}: ${describeError(error)}`);
    }
  }

  const hostDns = keptFor(HOST_DNS_KEPT_MS, mono, async (): Promise<Parsed<DnsConfig | undefined>> => {
    if (resolvConf === '') return parsed(undefined);
    const text = await read(resolvConf);
    if (!text.ok) return text;
    const host = parseResolvConf(text.value);
    return host.ok ? host : unparsable(`${resolvConf}: ${host.problem}`);
  });

  return {
    hostnameOf,

    async dnsOf(pod) {
      const host = await hostDns();
      if (!host.ok) return host;
      return parsed(computePodDns(pod, { clusterDns, clusterDomain, host: host.value, nodeIps: nodeIps() }));
    },

    async hostsFileOf(pod, podIps) {
      if (pod.spec.hostNetwork) {
        const file = await read(NODE_HOSTS_FILE);
        return file.ok ? parsed(nodeHosts(file.value, pod.spec.hostAliases)) : file;
      }
      const name = hostnameOf(pod);
      if (!name.ok) return name;
      const { hostname, domain } = name.value;
      return parsed(managedHosts({ podIps, hostname, domain, aliases: pod.spec.hostAliases }));
    },
  };
}
