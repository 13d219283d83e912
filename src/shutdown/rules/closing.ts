/**
 * What to do next while the node closes: one group of pods after the other ends, each within the time of its group.
 *
 *   no group ──► the next that has pods: end them ──► wait ──all out, or its time is up──► the next …  ──none left──► over
 */
import type { PodUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { type GracePeriod, graceSecondsOf, groupOf } from './groups.ts';

export interface ClosingGroup {
  readonly index: number;
  /** When its pods were told to end, wall clock, ms. */
  readonly beganAt: number;
}

/** A pod that may still have to end. */
export interface ClosingPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** Nothing of it runs, and its volumes are unmounted. */
  readonly isOut: boolean;
}

export interface ClosingSnapshot {
  readonly periods: readonly GracePeriod[];
  /** Undefined: none has begun. */
  readonly group: ClosingGroup | undefined;
  /** Whether this kubelet has told the pods of the group to end: after a restart they are told again, with what is left of their time. */
  readonly isRequested: boolean;
  readonly pods: readonly ClosingPod[];
  readonly now: number;
}

export type ClosingStep =
  /** To be stored before it is carried out. */
  | { readonly kind: 'begin'; readonly group: ClosingGroup }
  | { readonly kind: 'end'; readonly pods: readonly PodToEnd[] }
  /** `until`: when the time of the group is up. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'over' };

export interface PodToEnd {
  readonly uid: PodUid;
  readonly graceSeconds: number;
}

export function nextClosingStep({ periods, group, isRequested, pods, now }: ClosingSnapshot): ClosingStep {
  const left = (index: number) => pods.filter(({ pod, isOut }) => !isOut && groupOf(pod, periods) === index);
  const period = group && periods[group.index];
  if (group !== undefined && period !== undefined && left(group.index).length > 0) {
    if (!isRequested) return { kind: 'end', pods: left(group.index).map((one) => toEnd(one, period, group, now)) };
    const until = group.beganAt + period.seconds * 1000;
    if (now < until) return { kind: 'wait', until };
  }
  const first = group === undefined ? 0 : group.index + 1;
  const next = periods.findIndex((_, index) => index >= first && left(index).length > 0);
  return next < 0 ? { kind: 'over' } : { kind: 'begin', group: { index: next, beganAt: now } };
}

/** Never prolonged by a restart of the kubelet. */
function toEnd({ uid, pod }: ClosingPod, period: GracePeriod, { beganAt }: ClosingGroup, now: number): PodToEnd {
  const passed = Math.max(0, Math.floor((now - beganAt) / 1000));
  return { uid, graceSeconds: Math.max(0, graceSecondsOf(pod, period) - passed) };
}
