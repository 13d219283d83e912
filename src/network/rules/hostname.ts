/** What a pod is called, by itself and in the cluster's names. */
import { isDnsSubdomain } from '../../api/names.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { quoteText } from '../../base/go-text.ts';

/** The kernel keeps 64 characters, the last of which other programs need for an end mark. */
const LONGEST_HOSTNAME = 63;
const LONGEST_KERNEL_NAME = 64;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface PodHostname {
  /** The short name. */
  readonly hostname: string;
  /** Empty for a pod without a subdomain. */
  readonly domain: string;
  /** What the kernel and `hostname` return: the short name, or the full one if the pod asks for it. */
  readonly kernelName: string;
}

export interface HostnameSettings {
  readonly clusterDomain: string;
  /** The gate HostnameOverride. */
  readonly override: boolean;
}

export function computeHostname(pod: Pod, settings: HostnameSettings): Parsed<PodHostname> {
  const names = settings.override && pod.spec.hostnameOverride !== undefined ? overridden(pod) : own(pod, settings);
  if (!names.ok) return names;
  const { hostname, domain } = names.value;
  if (domain === '' || !pod.spec.setHostnameAsFQDN) return parsed({ hostname, domain, kernelName: hostname });
  const kernelName = `${hostname}.${domain}`;
  if (kernelName.length > LONGEST_KERNEL_NAME) {
    const size = `(${LONGEST_KERNEL_NAME} characters is the max, ${kernelName.length} characters requested)`;
    return unparsable(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${kernelName} is too long ${size}`,
    );
  }
  return parsed({ hostname, domain, kernelName });
}

type Names = Pick<PodHostname, 'hostname' | 'domain'>;

function overridden(pod: Pod): Parsed<Names> {
  const requested = pod.spec.hostnameOverride ?? '';
  if (!isDnsSubdomain(requested)) {
    return unparsable(`pod HostnameOverride ${quoteText(requested)} is not a valid DNS subdomain`);
  }
  return parsed({ hostname: shortened(requested), domain: '' });
}

function own(pod: Pod, { clusterDomain }: HostnameSettings): Parsed<Names> {
  const { hostname = '', subdomain = '' } = pod.spec;
  if (hostname !== '' && !DNS_LABEL.test(hostname)) {
    return unparsable(`pod Hostname ${quoteText(hostname)} is not a valid DNS label`);
  }
  if (subdomain !== '' && !DNS_LABEL.test(subdomain)) {
    return unparsable(`pod Subdomain ${quoteText(subdomain)} is not a valid DNS label`);
  }
  const domain = subdomain === '' ? '' : `${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`;
  return parsed({ hostname: shortened(hostname === '' ? pod.metadata.name : hostname), domain });
}

/** Names of pods may be longer than names of hosts; none may end with a dot or dash. */
function shortened(name: string): string {
  return name.length <= LONGEST_HOSTNAME ? name : name.slice(0, LONGEST_HOSTNAME).replace(/[-.]+$/, '');
}
