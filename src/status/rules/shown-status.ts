/**
 * What others see of a status. A pod is shown as ended only when nothing of it runs any more: schedulers and controllers
 * treat the resources of an ended pod as free.
 */
import type { PodCondition, PodStatus } from '../../api/pod-status.ts';
import type { PodStep } from '../../model/pod-view.ts';

export interface ShownInput {
  readonly computed: PodStatus;
  /** What was shown before. */
  readonly shown: PodStatus | undefined;
  readonly step: PodStep;
}

export function showStatus({ computed, shown, step }: ShownInput): PodStatus {
  const before = shown?.phase ?? 'Pending';
  if (!isTerminal(computed) || isTerminal({ phase: before })) return notReadyWhenOver(computed);
  if (step === 'terminated') return notReadyWhenOver(computed);
  const { reason: _reason, message: _message, ...rest } = computed;
  return {
    ...rest,
    phase: before,
    ...(shown?.reason === undefined ? {} : { reason: shown.reason }),
    ...(shown?.message === undefined ? {} : { message: shown.message }),
    // The disruption is published together with the end of the pod.
    conditions: (computed.conditions ?? []).filter((condition) => isPublished(condition, shown)),
  };
}

function isTerminal({ phase }: PodStatus): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function isPublished({ type }: PodCondition, shown: PodStatus | undefined): boolean {
  return type !== 'DisruptionTarget' || (shown?.conditions ?? []).some((condition) => condition.type === type);
}

function notReadyWhenOver(status: PodStatus): PodStatus {
  if (!isTerminal(status)) return status;
  const reason = status.phase === 'Failed' ? 'PodFailed' : 'PodCompleted';
  const conditions = (status.conditions ?? []).map((condition): PodCondition => {
    const claimed = condition.status === 'True' && (condition.type === 'Ready' || condition.type === 'ContainersReady');
    return claimed ? { ...condition, status: 'False', reason } : condition;
  });
  return status.conditions === undefined ? status : { ...status, conditions };
}
