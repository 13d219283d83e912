/**
 * In which order pending resizes get what is free: those that request nothing more, because they always fit; then by priority; then
 * guaranteed pods; then those that wait the longest.
 */
import type { Pod } from '../../api/pod.ts';
import { podRequests } from '../../api/pod-resources.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { compareQuantities, zeroQuantity } from '../../api/quantity.ts';

export interface PendingPod {
  /** As its spec is. */
  readonly requested: Pod;
  readonly allocated: Pod;
  /** Since when it is deferred, wall clock; undefined: it was not judged yet. */
  readonly since: number | undefined;
}

export function orderResizes(
  pending: readonly PendingPod[],
  options: { readonly podLevel: boolean },
): readonly PendingPod[] {
  const ranked = pending.map((one) => ({ one, rank: rankOf(one, options.podLevel) }));
  return ranked.toSorted((left, right) => compareRanks(left.rank, right.rank)).map(({ one }) => one);
}

function rankOf({ requested, allocated, since }: PendingPod, podLevel: boolean): readonly number[] {
  return [
    requestsMore(requested, allocated, podLevel) ? 1 : 0,
    -(requested.spec.priority ?? 0),
    qosClassOf(requested, { podLevel }) === 'Guaranteed' ? 0 : 1,
    since ?? Number.MAX_SAFE_INTEGER,
  ];
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

export function requestsMore(requested: Pod, allocated: Pod, podLevel: boolean): boolean {
  const [next, before] = [requested, allocated].map((pod) => podRequests(pod, { podLevel, overhead: true }));
  return ['cpu', 'memory'].some(
    (name) => compareQuantities(next?.get(name) ?? zeroQuantity, before?.get(name) ?? zeroQuantity) > 0,
  );
}
