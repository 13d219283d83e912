/** The addresses of a pod that uses its node's network. */
import { parseIpAddress } from './ip-address.ts';
import type { Pod } from './pod.ts';

/**
 * The node's, one of each family at most. Once reported they stay, whatever addresses the node has later; only a second family may
 * join. `before` is what was last reported of the pod.
 */
export function hostNetworkIps(before: readonly string[], nodeIps: readonly string[]): readonly string[] {
  if (before.length === 0) return nodeIps.slice(0, 2);
  const [only] = before;
  const second = nodeIps[1];
  if (before.length > 1 || only === undefined || second === undefined) return before;
  return familyOf(only) === familyOf(second) ? before : [only, second];
}

/** What a container sees as `status.podIPs`: those of its sandbox, or the node's. */
export function ownIps(pod: Pod, sandboxIps: readonly string[], nodeIps: readonly string[]): readonly string[] {
  if (pod.spec.hostNetwork !== true) return sandboxIps;
  return hostNetworkIps(
    (pod.status?.podIPs ?? []).map(({ ip }) => ip),
    nodeIps,
  );
}

function familyOf(ip: string): number | undefined {
  return parseIpAddress(ip)?.family;
}
