import type { Pod } from '../pod.ts';
import type { Faults } from './faults.ts';
import { dnsLabel, dnsSubdomain } from './text-rules.ts';

/** The resource claims of a pod: a name each, and either a claim or a template for one. */
export function checkResourceClaims({ spec }: Pod, faults: Faults): void {
  const claims = (spec.resourceClaims ?? []) as readonly Readonly<Record<string, string | undefined>>[];
  claims.forEach(({ name, resourceClaimName, resourceClaimTemplateName }, index) => {
    const path = `spec.resourceClaims[${index}]`;
    faults.requiredText(`${path}.name`, name, dnsLabel);
    faults.optionalText(`${path}.resourceClaimName`, resourceClaimName, dnsSubdomain);
    faults.optionalText(`${path}.resourceClaimTemplateName`, resourceClaimTemplateName, dnsSubdomain);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      faults.invalid(path, name ?? '', detail);
    } else if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      faults.invalid(path, name ?? '', 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
  });
  faults.unique(
    claims,
    ({ name }) => name,
    (index) => `spec.resourceClaims[${index}].name`,
  );
}

export function claimNamesOf({ spec }: Pod): readonly string[] {
  return (spec.resourceClaims ?? []).map((claim) => String(claim['name'] ?? '')).filter((name) => name !== '');
}
