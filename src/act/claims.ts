import type { Pod } from '../api/pod.ts';
import { resourceClaimNames } from '../api/pod-traits.ts';

/** Claims are prepared by drivers that this kubelet can't call yet. Without its devices a pod must not start: it waits and reports why. */
export function claimsProblem(pod: Pod): string | undefined {
  const claims = resourceClaimNames(pod);
  if (claims.length === 0) return undefined;
  return `Failed to prepare dynamic resources: resource claims are not supported yet (${claims.join(', ')})`;
}
