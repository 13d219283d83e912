/** What the pod as a whole was given: the sum over its containers, or its own resources where it has some. */
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { podLimits, podRequests, type Quantities } from '../../api/pod-resources.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import { formatQuantity } from '../../api/quantity.ts';
import { withAllocation } from '../../model/allocation.ts';
import type { StatusInput } from './status-input.ts';

/** What is in force differs from what is allocated while the pod is resized. */
export function podLevelResources(input: StatusInput): Pick<PodStatus, 'resources' | 'allocatedResources'> {
  const { pod, gates } = input;
  if (!gates.inPlacePodLevelResources) return {};
  const options = { podLevel: gates.podLevelResources, overhead: true };
  const inForce = podInForce(input);
  const requests = toList(podRequests(inForce, options));
  const limits = toList(podLimits(inForce, options));
  const allocated = toList(podRequests(pod, options));
  return {
    resources: {
      ...(pod.spec.resources?.claims === undefined ? {} : { claims: pod.spec.resources.claims }),
      ...(limits === undefined ? {} : { limits }),
      ...(requests === undefined ? {} : { requests }),
    },
    ...(allocated === undefined ? {} : { allocatedResources: allocated }),
  };
}

function podInForce({ pod, inForce, resize }: StatusInput): Pod {
  if (inForce === undefined || resize?.inProgress === undefined) return pod;
  return withAllocation(pod, inForce, { podLevel: inForce.pod !== undefined });
}

function toList(quantities: Quantities): ResourceList | undefined {
  if (quantities.size === 0) return undefined;
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
