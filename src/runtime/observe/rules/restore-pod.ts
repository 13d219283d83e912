/** A pod that no source has any more, as far as the labels of its containers show: enough to end it as it requested. */
import type { Container, LifecycleHandler } from '../../../api/container.ts';
import type { Pod } from '../../../api/pod.ts';
import type { Observation } from '../../../model/observation.ts';
import { DELETION_GRACE_PERIOD, PRE_STOP_HANDLER, TERMINATION_GRACE_PERIOD } from '../../spec/labels.ts';

export function restorePod({ uid, name, namespace, containers, sandboxes }: Observation): Pod {
  const newest = new Map(containers.toReversed().map((container) => [container.name, container]));
  const graces = containers
    .map(({ annotations }) => annotations[DELETION_GRACE_PERIOD] ?? annotations[TERMINATION_GRACE_PERIOD])
    .map((text) => Number(text ?? Number.NaN))
    .filter((seconds) => Number.isInteger(seconds) && seconds >= 0);
  const grace = graces[0];
  return {
    metadata: { name, namespace, uid },
    spec: {
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
      hostNetwork: sandboxes[0]?.hostNetwork ?? false,
      containers: [...newest.values()].map((container): Container => {
        const preStop = handlerOf(container.annotations[PRE_STOP_HANDLER]);
        return { name: container.name, image: container.image, ...(preStop && { lifecycle: { preStop } }) };
      }),
    },
  };
}

/** Undefined where there is none, or none that can be read: the container is then stopped without it. */
function handlerOf(text: string | undefined): LifecycleHandler | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as LifecycleHandler) : undefined;
  } catch {
    return undefined;
  }
}
