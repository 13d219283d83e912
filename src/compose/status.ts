/** The statuses of pods, from what their workers publish. */

import type { Config } from '../config/config.ts';
import type { Plan } from '../model/plan.ts';
import type { PodNews } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import { RESIZE_REFUSED } from '../pods/rules/allocation.ts';
import type { Handlers } from '../runtime/handlers.ts';
import type { StatusGates } from '../status/rules/status-input.ts';
import { createStatus, type PodStatusChange, type Statuses } from '../status/status.ts';
import type { PartDeps } from './compose.ts';
import { qosClasses } from './resources.ts';

export interface StatusTools {
  readonly handlers: Handlers;
  readonly nodeIps: () => readonly string[];
  /** To the API server, where there is one. */
  readonly publish?: ((change: PodStatusChange) => void) | undefined;
}

export function composeStatuses(config: Config, { clock, log, supervisor }: PartDeps, tools: StatusTools): Statuses {
  const { handlers, nodeIps, publish } = tools;
  const statusLog = log.named('status');
  return createStatus({
    now: clock.now,
    clock,
    supervisor,
    nodeIps,
    runtimeName: handlers.runtimeName,
    qosClassOf: qosClasses(config),
    recursiveReadOnly: () => handlers.features('').recursiveReadOnly,
    gates: statusGates(config),
    sink: (change) => {
      publish?.(change);
      const { uid, status } = change;
      const { metadata } = change.pod;
      const pod = `${metadata.namespace}/${metadata.name}`;
      statusLog.v(2)?.info('Pod status changed', { pod, podUID: uid, status });
    },
  });
}

function statusGates({ features }: Config): StatusGates {
  return {
    podReadyToStartContainers: features.enabled('PodReadyToStartContainersCondition'),
    containerStopSignals: features.enabled('ContainerStopSignals'),
    podLevelResources: features.enabled('PodLevelResources'),
    inPlacePodLevelResources: features.enabled('InPlacePodLevelResourcesVerticalScaling'),
    restartAllContainers: features.enabled('RestartAllContainersOnContainerExits'),
  };
}

const startedBy = (plan: Plan | undefined): readonly string[] =>
  (plan?.actions ?? []).flatMap((action) => (action.kind === 'container-start' ? [action.name] : []));

/** Every view becomes a status, until the pod is gone. */
export function publishStatus(statuses: Statuses, probes: () => ProbeResults): (news: PodNews) => void {
  return (news) => {
    if (news.kind === 'gone') {
      statuses.forget(news.uid);
      return;
    }
    const { pod, step, observation, memory, plan, acknowledgedAt, ended, asked } = news.view;
    const remembered = [...memory].flatMap(([name, { waiting }]) => (waiting ? [[name, waiting] as const] : []));
    statuses.publish({
      pod,
      step,
      observation,
      probes: probes(),
      waiting: new Map([...remembered, ...(plan?.waiting ?? [])]),
      starting: new Set(startedBy(plan)),
      startedAt: acknowledgedAt,
      resizeRefused: asked === undefined ? undefined : RESIZE_REFUSED,
      ended: ended?.rejected ? undefined : ended,
      rejected: ended?.rejected ? ended : undefined,
    });
  };
}
