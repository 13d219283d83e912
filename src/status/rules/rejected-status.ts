/** The status of a pod that was not admitted: it has no containers. */
import type { Pod } from '../../api/pod.ts';
import type { PodStatus, QosClass } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';

export interface Rejection {
  /** Such as `OutOfcpu` or `NodeAffinity`. */
  readonly reason: string;
  readonly message: string;
}

export interface RejectedInput {
  readonly pod: Pod;
  readonly rejection: Rejection;
  readonly previous: PodStatus | undefined;
  readonly qosClass: QosClass;
  readonly startedAt: number;
}

export function rejectedStatus({ pod, rejection, previous, qosClass, startedAt }: RejectedInput): PodStatus {
  const { generation } = pod.metadata;
  return {
    ...(generation === undefined || generation === 0 ? {} : { observedGeneration: generation }),
    phase: 'Failed',
    message: `Pod was rejected: ${rejection.message}`,
    reason: rejection.reason,
    startTime: previous?.startTime ?? pod.status?.startTime ?? formatTimestamp(startedAt),
    qosClass,
  };
}
