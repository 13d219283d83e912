/** One pod in one line, as `kubectl get pods` shows it by the rules of the API server. */
import type { Pod } from './pod.ts';
import type { ContainerStatus } from './pod-status.ts';
import { isSidecar } from './pod-traits.ts';

export interface PodRow {
  readonly ready: number;
  readonly containers: number;
  readonly status: string;
  readonly restarts: number;
  /** When a container last ended that was started again. */
  readonly lastEnd: string | undefined;
  readonly ip: string;
}

export function podRow(pod: Pod): PodRow {
  const { status, spec } = pod;
  const statuses = status?.containerStatuses ?? [];
  const sidecars = (status?.initContainerStatuses ?? []).filter((one) => isSidecarStatus(pod, one));
  const counted = [...statuses, ...sidecars];
  const sidecarCount = (spec.initContainers ?? []).filter((container) => isSidecar(pod, container)).length;
  return {
    ready: counted.filter((one) => one.ready && one.state?.running !== undefined).length,
    containers: spec.containers.length + sidecarCount,
    status: shownStatus(pod),
    restarts: counted.reduce((sum, one) => sum + one.restartCount, 0),
    lastEnd: counted
      .map((one) => one.lastState?.terminated?.finishedAt)
      .filter((time) => time !== undefined && time !== null)
      .sort()
      .at(-1),
    ip: status?.podIPs?.[0]?.ip || status?.podIP || '',
  };
}

const isSidecarStatus = (pod: Pod, { name }: ContainerStatus): boolean =>
  (pod.spec.initContainers ?? []).some((container) => container.name === name && isSidecar(pod, container));

function shownStatus(pod: Pod): string {
  const { status, metadata } = pod;
  const phase = status?.reason || status?.phase || 'Unknown';
  const init = initReason(pod);
  const reason = init ?? containersReason(pod, phase);
  if (metadata.deletionTimestamp === undefined) return reason;
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return status?.reason === 'NodeLost' ? 'Unknown' : ended ? reason : 'Terminating';
}

/** Undefined: the init containers are done. */
function initReason(pod: Pod): string | undefined {
  const inits = pod.spec.initContainers ?? [];
  const statuses = pod.status?.initContainerStatuses ?? [];
  for (const [index, one] of statuses.entries()) {
    const { terminated, waiting } = one.state ?? {};
    if (terminated?.exitCode === 0 || (isSidecarStatus(pod, one) && one.started)) continue;
    if (terminated !== undefined) return `Init:${terminated.reason || endedReason(terminated)}`;
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
    return `Init:${index}/${inits.length}`;
  }
  return undefined;
}

interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
}

const endedReason = ({ signal, exitCode }: Terminated): string =>
  signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;

function containersReason({ status }: Pod, phase: string): string {
  let reason = phase;
  let hasRunning = false;
  for (const { state, ready } of (status?.containerStatuses ?? []).toReversed()) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated) reason = state.terminated.reason || endedReason(state.terminated);
    else if (ready && state?.running) hasRunning = true;
  }
  if (reason !== 'Completed' || !hasRunning) return reason;
  const isReady = (status?.conditions ?? []).some(
    ({ type, status: verdict }) => type === 'Ready' && verdict === 'True',
  );
  return isReady ? 'Running' : 'NotReady';
}
