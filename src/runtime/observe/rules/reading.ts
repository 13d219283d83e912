/** Turns the runtime's answers into an observation. */

import { containerId, podUid, sandboxId } from '../../../api/ids.ts';
import type { ContainerRunState, ObservedContainer, ObservedSandbox } from '../../../model/observation.ts';
import type { PodIdentity } from '../../../model/pod-identity.ts';
import {
  type Container,
  ContainerState,
  type ContainerStatus,
  NamespaceMode,
  type PodSandbox,
  PodSandboxState,
  type PodSandboxStatus,
  Signal,
} from '../../../wire/gen/cri-runtime-v1.ts';
import { CONTAINER_HASH, CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID, RESTART_COUNT } from '../../spec/labels.ts';

export function runtimePodOf(labels: Readonly<Record<string, string>>): PodIdentity | undefined {
  const uid = labels[POD_UID];
  if (uid === undefined || uid === '') return undefined;
  return { uid: podUid(uid), name: labels[POD_NAME] ?? '', namespace: labels[POD_NAMESPACE] ?? '' };
}

/** The preferred one first; none with host network, and where the runtime has not reported any yet. */
export function sandboxIps(status: Pick<PodSandboxStatus, 'network'> | undefined): readonly string[] {
  const { ip = '', additionalIps = [] } = status?.network ?? {};
  return [ip, ...additionalIps.map((additional) => additional.ip)].filter((text) => text !== '');
}

export function readSandbox(status: PodSandboxStatus): ObservedSandbox {
  const hostNetwork = status.linux?.namespaces?.options?.network === NamespaceMode.NODE;
  const ips = sandboxIps(status);
  return {
    id: sandboxId(status.id),
    attempt: status.metadata?.attempt ?? 0,
    ready: status.state === PodSandboxState.SANDBOX_READY,
    createdAt: milliseconds(status.createdAt),
    hostNetwork,
    ips: hostNetwork ? [] : ips,
    runtimeHandler: status.runtimeHandler,
  };
}

/** `listed` is the same container in the list: only there the runtime names its sandbox. */
export function readContainer(status: ContainerStatus, listed: Container, message: string): ObservedContainer {
  const { annotations, labels } = status;
  const user = status.user?.linux;
  const resources = status.resources?.linux;
  return {
    id: containerId(status.id),
    sandboxId: sandboxId(listed.podSandboxId),
    name: labels[CONTAINER_NAME] ?? status.metadata?.name ?? '',
    state: runState(status.state),
    createdAt: milliseconds(status.createdAt),
    startedAt: milliseconds(status.startedAt),
    finishedAt: milliseconds(status.finishedAt),
    exitCode: status.exitCode,
    reason: status.reason,
    message,
    image: status.image?.image ?? '',
    imageId: status.imageId === '' ? status.imageRef : status.imageId,
    imageRef: status.imageRef,
    hash: annotations[CONTAINER_HASH] ?? '',
    restartCount: restartCount(annotations[RESTART_COUNT], status.metadata?.attempt ?? 0),
    annotations,
    logPath: status.logPath,
    user: user && { uid: user.uid, gid: user.gid, groups: user.supplementalGroups },
    stopSignal: signalName(status.stopSignal),
    resources: resources && {
      cpuShares: resources.cpuShares,
      cpuQuota: resources.cpuQuota,
      cpuPeriod: resources.cpuPeriod,
      memoryLimit: resources.memoryLimitInBytes,
    },
  };
}

/** The same for the same sandboxes and containers in the same states: shows whether a pod must be read again. */
export function fingerprint(sandboxes: readonly PodSandbox[], containers: readonly Container[]): string {
  return [...sandboxes, ...containers]
    .map(({ id, state }) => `${id}=${state}`)
    .sort()
    .join();
}

export function runState(state: ContainerStatus['state']): ContainerRunState {
  switch (state) {
    case ContainerState.CONTAINER_CREATED:
      return 'created';
    case ContainerState.CONTAINER_RUNNING:
      return 'running';
    case ContainerState.CONTAINER_EXITED:
      return 'exited';
    default:
      return 'unknown';
  }
}

function restartCount(annotation: string | undefined, attempt: number): number {
  const count = Number(annotation ?? Number.NaN);
  return Number.isInteger(count) && count >= 0 ? count : attempt;
}

function signalName(signal: Signal): string {
  if (signal === Signal.RUNTIME_DEFAULT) return '';
  return Object.entries(Signal).find(([, number]) => number === signal)?.[0] ?? '';
}

function milliseconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}
