/**
 * Which pods must end so that a critical one can start: as few as possible of the higher QoS classes, then as few as possible of each
 * class, then those with the smallest requests.
 */
import type { Pod } from '../../api/pod.ts';
import { podRequests, quantityOf } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { isCriticalPod } from '../../api/pod-traits.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { addQuantities } from '../../api/quantity.ts';
import type { PodEnding } from '../../model/pod-view.ts';
import { amountOf, type Shortage } from './shortages.ts';

const PREEMPTED: Omit<PodEnding, 'message'> = {
  phase: 'Failed',
  reason: 'Preempting',
  disruption: {
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  },
};

/** How a pod ends that is preempted. */
export function preemptionEnd(message: string): PodEnding {
  return { ...PREEMPTED, message };
}

/** What must become free, by resource. */
type Needs = ReadonlyMap<string, bigint>;

export type Preemption =
  | { readonly kind: 'possible'; readonly victims: readonly Pod[] }
  | { readonly kind: 'impossible'; readonly message: string };

export interface PreemptionInput {
  readonly pod: Pod;
  readonly others: readonly Pod[];
  readonly shortages: readonly Shortage[];
  readonly podLevel: boolean;
}

export function planPreemption({ pod, others, shortages, podLevel }: PreemptionInput): Preemption {
  const needs: Needs = new Map(
    shortages.map(({ resource, requested, used, capacity }) => [resource, requested - (capacity - used)]),
  );
  const candidates = others.filter((other) => mayPreempt(pod, other));
  const free = (from: Needs, pods: readonly Pod[]) => without(from, pods, podLevel);
  const missing = free(needs, candidates);
  if (missing.size > 0) return { kind: 'impossible', message: describeMissing(missing) };
  const ofClass = (qosClass: QosClass) => candidates.filter((one) => qosClassOf(one, { podLevel }) === qosClass);
  const [bestEffort, burstable, guaranteed] = [ofClass('BestEffort'), ofClass('Burstable'), ofClass('Guaranteed')];
  // The highest class first: only as many as all pods of the lower classes together can't replace.
  const highest = choose(guaranteed, free(needs, [...bestEffort, ...burstable]), podLevel);
  const middle = choose(burstable, free(needs, [...bestEffort, ...highest]), podLevel);
  const lowest = choose(bestEffort, free(needs, [...highest, ...middle]), podLevel);
  return { kind: 'possible', victims: [...lowest, ...middle, ...highest] };
}

function mayPreempt(pod: Pod, other: Pod): boolean {
  if (isCriticalPod(pod) && !isCriticalPod(other)) return true;
  const [own, its] = [pod.spec.priority, other.spec.priority];
  return own !== undefined && its !== undefined && own > its;
}

/** One after the other, always the pod that leaves the smallest need. The candidates together are known to be enough. */
function choose(candidates: readonly Pod[], needs: Needs, podLevel: boolean): readonly Pod[] {
  const [best] = candidates.toSorted((a, b) => compareVictims(a, b, needs, podLevel));
  if (needs.size === 0 || best === undefined) return [];
  const rest = candidates.filter((one) => one !== best);
  return [best, ...choose(rest, without(needs, [best], podLevel), podLevel)];
}

function compareVictims(a: Pod, b: Pod, needs: Needs, podLevel: boolean): number {
  const byDistance = distance(a, needs, podLevel) - distance(b, needs, podLevel);
  if (byDistance !== 0) return byDistance;
  for (const resource of ['memory', 'cpu']) {
    const difference = requestOf(a, resource, podLevel) - requestOf(b, resource, podLevel);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  return 0;
}

/** How much of all needs would be left, each resource with the same weight. */
function distance(pod: Pod, needs: Needs, podLevel: boolean): number {
  let sum = 0;
  for (const [resource, amount] of needs) {
    const left = amount - requestOf(pod, resource, podLevel);
    if (left > 0n) sum += (Number(left) / Number(amount)) ** 2;
  }
  return sum;
}

function without(needs: Needs, pods: readonly Pod[], podLevel: boolean): Needs {
  const left = new Map<string, bigint>();
  for (const [resource, amount] of needs) {
    const rest = pods.reduce((open, pod) => open - requestOf(pod, resource, podLevel), amount);
    if (rest > 0n) left.set(resource, rest);
  }
  return left;
}

/** Overhead counts only where the pod has a request. */
function requestOf(pod: Pod, resource: string, podLevel: boolean): bigint {
  if (resource === 'pods') return 1n;
  const request = podRequests(pod, { podLevel, overhead: false }).get(resource);
  if (request === undefined || request.nanos === 0n) return 0n;
  return amountOf(resource, addQuantities(request, quantityOf(pod.spec.overhead, resource)));
}

function describeMissing(needs: Needs): string {
  const list = [...needs].map(([resource, amount]) => `(res: ${resource}, q: ${amount}), `).join('');
  return `no set of running pods found to reclaim resources: [${list}]`;
}
