/** Addresses of the pod and of its node. */
import { hostNetworkIps } from '../../api/host-network.ts';
import { parseIpAddress } from '../../api/ip-address.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import type { StatusInput } from './status-input.ts';

export type Addresses = Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'>;

export function computeAddresses(input: StatusInput): Addresses {
  const [host] = input.nodeIps;
  const hostIPs = input.nodeIps.slice(0, 2).map((ip) => ({ ip }));
  const own = podAddresses(input);
  const [first] = own;
  return {
    ...(host === undefined ? {} : { hostIP: host, hostIPs }),
    ...(first === undefined ? {} : { podIP: first, podIPs: own.map((ip) => ({ ip })) }),
  };
}

function podAddresses(input: StatusInput): readonly string[] {
  const before = (input.previous?.podIPs ?? []).map(({ ip }) => ip);
  if (input.pod.spec.hostNetwork === true) return hostNetworkIps(before, input.nodeIps);
  const [newest] = input.observation.sandboxes;
  if (newest?.ready === true) return oneOfEachFamily(newest.ips, input.nodeIps[0]);
  // A stopped sandbox has lost its address, but the pod is still known by it.
  return newest === undefined && input.step === 'syncing' ? [] : before;
}

/** The runtime's order means nothing: the node's own family comes first. */
function oneOfEachFamily(ips: readonly string[], nodeIp: string | undefined): readonly string[] {
  const preferred = nodeIp === undefined ? 4 : familyOf(nodeIp);
  const first = ips.find((ip) => familyOf(ip) === preferred);
  const second = ips.find((ip) => familyOf(ip) !== preferred && familyOf(ip) !== undefined);
  return [first, second].filter((ip) => ip !== undefined);
}

function familyOf(ip: string): number | undefined {
  return parseIpAddress(ip)?.family;
}
