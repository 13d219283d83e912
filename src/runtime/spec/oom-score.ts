/** Who is killed first when the node runs out of memory. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { containerRequests, hasPodLevelRequests, quantityOf } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { isNodeCriticalPod, isSidecar } from '../../api/pod-traits.ts';
import { quantityValue, zeroQuantity } from '../../api/quantity.ts';
import type { Gates, ResourceSettings } from './settings.ts';

const PROTECTED = -997;
const FIRST_TO_GO = 1000;
/** Burstable containers stay between the two classes around them. */
const LEAST_BURSTABLE = 3;
const MOST_BURSTABLE = 999;

export interface OomScoreInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly qosClass: QosClass;
  readonly settings: Pick<ResourceSettings, 'memoryCapacity'>;
  readonly gates: Gates;
}

/** A burstable container that asks for a tenth of the memory gets 900: above its request it is as likely a victim as any. */
export function oomScoreAdjustment({ pod, container, qosClass, settings, gates }: OomScoreInput): number {
  if (isNodeCriticalPod(pod) || qosClass === 'Guaranteed') return PROTECTED;
  if (qosClass === 'BestEffort') return FIRST_TO_GO;
  const unassigned = gates('PodLevelResources') && hasPodLevelRequests(pod) ? unassignedMemory(pod) : 0n;
  const own = memoryRequest(container) + unassigned;
  const score = isSidecar(pod, container) ? larger(own, leastRegularRequest(pod) + unassigned) : own;
  const adjustment = Number(1000n - (1000n * score) / settings.memoryCapacity);
  return Math.max(LEAST_BURSTABLE, adjustment === FIRST_TO_GO ? MOST_BURSTABLE : adjustment);
}

/** Each container's share of what the pod asks for beyond its containers. */
function unassignedMemory(pod: Pod): bigint {
  const asked = quantityValue(quantityOf(pod.spec.resources?.requests, 'memory'));
  if (asked === 0n) return 0n;
  const assigned = quantityValue(containerRequests(pod).get('memory') ?? zeroQuantity);
  const count = pod.spec.containers.length + (pod.spec.initContainers ?? []).length;
  return (asked - assigned) / BigInt(count);
}

/** A sidecar serves the regular containers, so it must not be killed before them. */
function leastRegularRequest(pod: Pod): bigint {
  const [least = 0n] = pod.spec.containers.map(memoryRequest).sort((a, b) => Number(a - b));
  return least;
}

function memoryRequest(container: Container): bigint {
  return quantityValue(quantityOf(container.resources?.requests, 'memory'));
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
