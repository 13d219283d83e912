/** The conditions that the kubelet sets on a pod, with the reference's texts and in its order. */

import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { isOwnCondition } from '../../api/pod-conditions.ts';
import type { ConditionStatus, ContainerStatus, PodCondition, PodPhase, PodStatus } from '../../api/pod-status.ts';
import { isSidecar } from '../../api/pod-traits.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import { quoteText } from '../../base/go-text.ts';
import { mayRestartAll } from '../../plan/restart-policy.ts';
import { judgeSandbox } from '../../plan/sandbox.ts';
import type { StatusInput } from './status-input.ts';

export interface Verdict {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  /** Of a condition that is about an earlier spec, or that is older than it was published: its generation, and since when it is so. */
  readonly own?: { readonly generation: number; readonly since: number };
}

export interface ConditionInput {
  readonly input: StatusInput;
  readonly phase: PodPhase;
  /** Of init and regular containers. */
  readonly statuses: ReadonlyMap<string, ContainerStatus>;
  readonly restartingAll: boolean;
}

export function computeVerdicts(context: ConditionInput): readonly Verdict[] {
  const { input } = context;
  const { pod, gates } = input;
  const containersReady = judgeContainersReady(context);
  return [
    ...judgeResize(context),
    ...(input.ended?.disruption === undefined
      ? []
      : [{ type: 'DisruptionTarget', status: 'True' as const, ...input.ended.disruption }]),
    ...(gates.podReadyToStartContainers ? [judgeSandboxReady(input)] : []),
    judgeInitialized(context),
    judgeReady(pod, containersReady),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
    ...(gates.restartAllContainers && mayRestartAll(pod) ? [judgeRestartingAll(context)] : []),
  ];
}

/** A pod that has ended asks for nothing any more. */
function judgeResize({ input, phase }: ConditionInput): readonly Verdict[] {
  if (endReason(phase) !== undefined || input.step === 'terminated') return [];
  const { pending, inProgress } = input.resize ?? {};
  const error = inProgress?.error;
  return [
    ...(pending === undefined
      ? []
      : [
          {
            type: 'PodResizePending',
            status: 'True' as const,
            reason: pending.reason,
            message: pending.message,
            own: pending,
          },
        ]),
    ...(inProgress === undefined
      ? []
      : [
          {
            type: 'PodResizeInProgress',
            status: 'True' as const,
            ...(error === undefined ? {} : { reason: 'Error', message: error }),
            own: inProgress,
          },
        ]),
  ];
}

/** A sandbox that will do is there, so its network is set up. */
function judgeSandboxReady({ pod, observation }: StatusInput): Verdict {
  const { kind } = judgeSandbox(pod, observation);
  return { type: 'PodReadyToStartContainers', status: kind === 'keep' ? 'True' : 'False' };
}

function judgeInitialized({ input, phase, statuses }: ConditionInput): Verdict {
  const type = 'Initialized';
  const { pod } = input;
  const init = pod.spec.initContainers ?? [];
  const unknown = init.filter(({ name }) => !statuses.has(name));
  const incomplete = init.filter((container) => isIncomplete(pod, container, statuses.get(container.name)));
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  // Once initialized, always initialized: a sidecar that restarts does not take it back.
  const regularRan = pod.spec.containers.some(({ name }) => hasRun(statuses.get(name)));
  const message = [...complaint('unknown', unknown), ...complaint('incomplete', incomplete)].join(', ');
  if (regularRan || message === '' || wasTrue(input.previous, type)) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

function isIncomplete(pod: Pod, container: Container, status: ContainerStatus | undefined): boolean {
  if (status === undefined) return false;
  return isSidecar(pod, container) ? status.started !== true : !status.ready;
}

function hasRun(status: ContainerStatus | undefined): boolean {
  return status?.state.running !== undefined || status?.state.terminated !== undefined;
}

function wasTrue(previous: PodStatus | undefined, type: string): boolean {
  return (previous?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

/** Why a pod that has ended is not ready. */
function endReason(phase: PodPhase): string | undefined {
  if (phase === 'Failed') return 'PodFailed';
  return phase === 'Succeeded' ? 'PodCompleted' : undefined;
}

function judgeContainersReady({ input, phase, statuses }: ConditionInput): Verdict {
  const type = 'ContainersReady';
  const { pod } = input;
  const serving = [
    ...(pod.spec.initContainers ?? []).filter((container) => isSidecar(pod, container)),
    ...pod.spec.containers,
  ];
  const unknown = serving.filter(({ name }) => !statuses.has(name));
  const unready = serving.filter(({ name }) => statuses.get(name)?.ready === false);
  const reason = endReason(phase);
  if (reason !== undefined && (phase === 'Failed' || unknown.length === 0)) return { type, status: 'False', reason };
  const message = [...complaint('unknown', unknown), ...complaint('unready', unready)].join(', ');
  if (message === '') return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotReady', message };
}

function complaint(what: string, containers: readonly Container[]): readonly string[] {
  if (containers.length === 0) return [];
  return [`containers with ${what} status: [${containers.map(({ name }) => name).join(' ')}]`];
}

/** Ready when its containers are ready and every readiness gate is true. */
function judgeReady(pod: Pod, containersReady: Verdict): Verdict {
  const type = 'Ready';
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const conditions = (pod.status?.conditions ?? []).filter((condition) => !isOwnCondition(condition));
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditions.find((one) => one.type === conditionType);
    const name = quoteText(conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate ${name} does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate ${name} is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}

function judgeRestartingAll({ phase, restartingAll }: ConditionInput): Verdict {
  const type = 'AllContainersRestarting';
  const reason = endReason(phase);
  if (reason !== undefined) return { type, status: 'False', reason };
  if (!restartingAll) return { type, status: 'False' };
  const message = 'container exited with restart policy rule';
  return { type, status: 'True', reason: 'RestartAllContainersStarted', message };
}

export interface SettleInput {
  readonly verdicts: readonly Verdict[];
  readonly previous: readonly PodCondition[];
  readonly generation: number | undefined;
  /** RFC 3339. */
  readonly now: string;
}

/** The time of a condition is that of its last change of status: a new reason alone does not move it. */
export function settleConditions({ verdicts, previous, generation, now }: SettleInput): readonly PodCondition[] {
  return verdicts.map(({ type, status, reason, message, own }) => {
    const before = previous.find((condition) => condition.type === type);
    const since = before?.status === status ? (before.lastTransitionTime ?? null) : now;
    return {
      type,
      ...(generation === undefined || generation === 0 ? {} : { observedGeneration: own?.generation ?? generation }),
      status,
      lastProbeTime: null,
      lastTransitionTime: own === undefined ? since : formatTimestamp(own.since),
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  });
}
