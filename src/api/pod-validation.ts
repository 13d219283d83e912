/**
 * Is this a pod that can be created? All faults at once, in the words of the API server and with its defaults already filled in
 * (see pod-defaults.ts). What only the admission of a node decides (resources that are free, ports in use) is not asked here.
 */
import type { FieldError } from './field-error.ts';
import type { Pod } from './pod.ts';
import { DEFAULT_POD_GATES, type PodGates } from './pod-gates.ts';
import { checkResourceClaims, claimNamesOf } from './pod-validation/claims.ts';
import { checkContainers } from './pod-validation/containers.ts';
import { Faults } from './pod-validation/faults.ts';
import { checkMetadata } from './pod-validation/metadata.ts';
import { checkPodResources } from './pod-validation/resources.ts';
import { checkScheduling } from './pod-validation/scheduling.ts';
import { checkPodSecurity } from './pod-validation/security.ts';
import { checkSpec } from './pod-validation/spec.ts';
import { checkVolumes } from './pod-validation/volumes.ts';

export function validatePod(pod: Pod, gates: PodGates = DEFAULT_POD_GATES): readonly FieldError[] {
  const faults = new Faults();
  checkMetadata(pod, faults);
  const volumes = checkVolumes(pod, faults);
  checkResourceClaims(pod, faults);
  const context = {
    volumes,
    claimNames: claimNamesOf(pod),
    podRestartPolicy: pod.spec.restartPolicy,
    hostUsers: pod.spec.hostUsers !== false,
  };
  checkContainers(pod, context, gates, faults);
  if (gates.podLevelResources && pod.spec.resources !== undefined) checkPodResources(pod, pod.spec.resources, faults);
  checkPodSecurity(pod, gates, faults);
  checkScheduling(pod, gates, faults);
  checkSpec(pod, gates, faults);
  return faults.found;
}
