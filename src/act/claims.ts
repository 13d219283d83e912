import type { Pod } from '../api/pod.ts';

/** Claims are prepared by drivers that this kubelet can't ask yet. Without its devices a pod must not start: it waits, and says why. */
export function claimsProblem({ spec, status }: Pod): string | undefined {
  const claims = (spec.resourceClaims ?? []).map(({ name }) => String(name));
  const extended = status?.extendedResourceClaimStatus?.['resourceClaimName'];
  if (extended !== undefined) claims.push(String(extended));
  if (claims.length === 0) return undefined;
  return `Failed to prepare dynamic resources: resource claims are not supported yet (${claims.join(', ')})`;
}
