/** Short ways to write the input of a status in tests. */

import { podUid } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { ContainerStatus, PodCondition, PodStatus } from '../../src/api/pod-status.ts';
import { emptyObservation } from '../../src/model/observation.ts';
import type { StatusGates, StatusInput } from '../../src/status/rules/status-input.ts';
import { NOW } from './builders.ts';

export const GATES: StatusGates = {
  podReadyToStartContainers: true,
  containerStopSignals: true,
  podLevelResources: true,
  inPlacePodLevelResources: true,
  restartAllContainers: true,
};

export function statusInput(pod: Pod, more: Partial<StatusInput> = {}): StatusInput {
  return {
    pod,
    step: 'syncing',
    observation: emptyObservation(podUid(pod.metadata.uid), pod.metadata.name, pod.metadata.namespace, 1),
    probes: { startup: new Map(), liveness: new Map(), readiness: new Map() },
    waiting: new Map(),
    starting: new Set(),
    previous: undefined,
    ended: undefined,
    qosClass: 'BestEffort',
    nodeIps: ['192.0.2.1'],
    runtimeName: 'containerd',
    recursiveReadOnly: true,
    startedAt: NOW - 60_000,
    now: NOW,
    gates: GATES,
    ...more,
  };
}

export function conditionOf(status: PodStatus, type: string): PodCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

/** `status`, then reason and message where there are some. */
export function conditionText(status: PodStatus, type: string): string {
  const { status: value, reason, message } = conditionOf(status, type) ?? { status: 'missing' };
  return [value, reason, message].filter((part) => part !== undefined).join(' | ');
}

export function statusOf(status: PodStatus, name: string): ContainerStatus {
  const all = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  const found = all.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the status has no container ${name}`);
  return found;
}

/** A state in a few words: `running`, `waiting CrashLoopBackOff`, `terminated 137 Error`. */
export function stateText({ running, waiting, terminated }: ContainerStatus['state']): string {
  if (running !== undefined) return 'running';
  if (terminated !== undefined) return ['terminated', terminated.exitCode, terminated.reason].join(' ').trim();
  return waiting === undefined ? '' : ['waiting', waiting.reason].join(' ').trim();
}
