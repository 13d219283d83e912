/** From one status of a pod to the next: what is computed, what of it others see, and whether they are notified. */
import { podUid } from '../../api/ids.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import { sameJson } from '../../base/same-json.ts';
import type { PodStep } from '../../model/pod-view.ts';
import type { PodStatusChange } from '../status.ts';
import { computePodStatus } from './compute-status.ts';
import { publishedEnd, readinessChanged } from './ending.ts';
import { rejectedStatus } from './rejected-status.ts';
import { showStatus } from './shown-status.ts';
import type { StatusInput } from './status-input.ts';
import type { StatusView } from './status-view.ts';

export interface KnownStatus {
  readonly step: PodStep;
  /** With the end of a pod that still has something running. */
  readonly computed: PodStatus;
  /** What others were notified of last. */
  readonly change: PodStatusChange;
}

/** What a status is made from besides the view. */
export type StatusSurroundings = Pick<
  StatusInput,
  'nodeIps' | 'deviceHealth' | 'runtimeName' | 'recursiveReadOnly' | 'now' | 'gates' | 'qosClass'
>;

export interface NextStatus {
  readonly known: KnownStatus;
  /** Others see another status than before. */
  readonly isChange: boolean;
}

export function nextStatus(before: KnownStatus | undefined, view: StatusView, around: StatusSurroundings): NextStatus {
  // The end was published with all its exit codes: what the runtime forgets later changes nothing.
  if (before?.change.final === true) return { known: before, isChange: false };
  const step = view.rejected === undefined ? view.step : 'terminated';
  const end = before === undefined && step === 'terminated' ? publishedEnd(view.pod) : undefined;
  const computed = end ?? compute(view, before?.computed, around);
  const status = showStatus({ computed, shown: before?.change.status ?? view.pod.status, step });
  const change = { uid: podUid(view.pod.metadata.uid), pod: view.pod, status, final: step === 'terminated' };
  if (before !== undefined && before.step === step && isHeldBack(before, change))
    return { known: { ...before, computed }, isChange: false };
  const isSame = before?.change.final === change.final && sameJson(before.change.status, status);
  return { known: { step, computed, change }, isChange: !isSame };
}

function compute(view: StatusView, previous: PodStatus | undefined, around: StatusSurroundings): PodStatus {
  const { pod, rejected, ended, startedAt } = view;
  const { qosClass } = around;
  if (rejected !== undefined) return rejectedStatus({ pod, rejection: rejected, previous, qosClass, startedAt });
  return computePodStatus({ ...view, ...around, ended, previous });
}

/** A pod that ends is published when it begins to end and when nothing of it runs any more: what stops in between helps no one. */
function isHeldBack({ step, change: before }: KnownStatus, next: PodStatusChange): boolean {
  return step === 'terminating' && before.pod === next.pod && !readinessChanged(before.status, next.status);
}
