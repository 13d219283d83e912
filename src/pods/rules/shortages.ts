/** Which resources a node lacks for one more pod. */
import type { Pod } from '../../api/pod.ts';
import { podRequests, type Quantities } from '../../api/pod-resources.ts';
import { type Quantity, quantityMilliValue, quantityValue } from '../../api/quantity.ts';

/** In the units of the messages: thousandths of a CPU, bytes, pieces. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

export interface ShortageInput {
  readonly pod: Pod;
  readonly others: readonly Pod[];
  readonly allocatable: Quantities;
  readonly podLevel: boolean;
}

/** The order in which they are reported. */
const FIRST = ['cpu', 'memory', 'ephemeral-storage'];

export function findShortages({ pod, others, allocatable, podLevel }: ShortageInput): readonly Shortage[] {
  const requests = podRequests(pod, { podLevel, overhead: true });
  const more = [...requests.keys()].filter((name) => !FIRST.includes(name)).sort();
  const wanted = [...FIRST, ...more].filter(
    (name) => amountOf(name, requests.get(name)) > 0n && !isForeign(name, allocatable),
  );
  const used = wanted.length === 0 ? [] : others.map((other) => podRequests(other, { podLevel, overhead: true }));
  const resources = wanted.map((resource) => ({
    resource,
    requested: amountOf(resource, requests.get(resource)),
    used: used.reduce((total, one) => total + amountOf(resource, one.get(resource)), 0n),
    capacity: amountOf(resource, allocatable.get(resource)),
  }));
  const pods: Shortage = {
    resource: 'pods',
    requested: 1n,
    used: BigInt(others.length),
    capacity: amountOf('pods', allocatable.get('pods')),
  };
  return [pods, ...resources].filter(({ requested, used: taken, capacity }) => requested > capacity - taken);
}

/** An extended resource that the node does not have is counted by the scheduler, not here. */
function isForeign(name: string, allocatable: Quantities): boolean {
  const isExtended = name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
  return isExtended && !allocatable.has(name);
}

export function amountOf(resource: string, quantity: Quantity | undefined): bigint {
  if (quantity === undefined) return 0n;
  return resource === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity);
}

export function describeShortage({ resource, requested, used, capacity }: Shortage): string {
  return `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
}
