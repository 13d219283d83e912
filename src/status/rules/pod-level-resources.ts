/** What the pod as a whole was given: the sum over its containers, or its own resources where it has some. */
import type { ResourceList } from '../../api/meta.ts';
import { podLimits, podRequests, type Quantities } from '../../api/pod-resources.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import { formatQuantity } from '../../api/quantity.ts';
import type { StatusInput } from './status-input.ts';

export function podLevelResources({ pod, gates }: StatusInput): Pick<PodStatus, 'resources' | 'allocatedResources'> {
  if (!gates.inPlacePodLevelResources) return {};
  const options = { podLevel: gates.podLevelResources, overhead: true };
  const requests = toList(podRequests(pod, options));
  const limits = toList(podLimits(pod, options));
  return {
    resources: {
      ...(pod.spec.resources?.claims === undefined ? {} : { claims: pod.spec.resources.claims }),
      ...(limits === undefined ? {} : { limits }),
      ...(requests === undefined ? {} : { requests }),
    },
    ...(requests === undefined ? {} : { allocatedResources: requests }),
  };
}

function toList(quantities: Quantities): ResourceList | undefined {
  if (quantities.size === 0) return undefined;
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
