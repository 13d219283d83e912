/** Content of /etc/hosts in a pod's containers. */
import type { PodSpec } from '../../api/pod.ts';

type HostAliases = PodSpec['hostAliases'];

export interface ManagedHosts {
  readonly podIps: readonly string[];
  readonly hostname: string;
  readonly domain: string;
  readonly aliases: HostAliases;
}

const LOCAL_NAMES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** For a pod with a network of its own. */
export function managedHosts({ podIps, hostname, domain, aliases }: ManagedHosts): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`;
  const own = podIps.map((ip) => `${ip}\t${names}`);
  return `${['# Kubernetes-managed hosts file.', ...LOCAL_NAMES, ...own].join('\n')}\n${aliasLines(aliases)}`;
}

/** For a pod on the node's network: the node's file, with the pod's aliases below. */
export function nodeHosts(nodeFile: string, aliases: HostAliases): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${aliasLines(aliases)}`;
}

function aliasLines(aliases: HostAliases): string {
  if (aliases === undefined || aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}
