/** The phase of a pod: a summary of its containers' states, computed again each time. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import type { ContainerStatus, PodPhase } from '../../api/pod-status.ts';
import { isSidecar, isStaticPod } from '../../api/pod-traits.ts';
import { restartsAfterExit } from '../../plan/restart-policy.ts';
import { RESTARTING_ALL } from './container-state.ts';

export interface PhaseInput {
  readonly pod: Pod;
  /** Of init and regular containers. */
  readonly statuses: ReadonlyMap<string, ContainerStatus>;
  /** Every container has been stopped and none will start again, regardless of the restart policy. */
  readonly over: boolean;
  /** A regular container is in the present sandbox. */
  readonly initialized: boolean;
  /** Containers that start again regardless of their restart policy. */
  readonly replaced: ReadonlySet<string>;
}

/** How far a container has come, as far as the phase goes. */
type Progress = 'unknown' | 'pending' | 'running' | 'restarting' | 'succeeded' | 'failed';

export function computePhase({ pod, statuses, over, initialized, replaced }: PhaseInput): PodPhase {
  const init = (pod.spec.initContainers ?? []).filter((container) => !isSidecar(pod, container));
  const sidecars = (pod.spec.initContainers ?? []).filter((container) => isSidecar(pod, container));
  const initProgress = init.map((container) => progressOf(pod, container, statuses.get(container.name)));
  if (initProgress.includes('failed')) return 'Failed';
  if (initProgress.some((progress) => ['unknown', 'pending', 'running'].includes(progress))) return 'Pending';
  const sides = sidecars.map(({ name }) => sidecarProgress(statuses.get(name)));
  if (!initialized && sides.some((side) => side !== 'up' && side !== 'ended')) return 'Pending';
  const main = pod.spec.containers.map((container) =>
    replaced.has(container.name) ? 'restarting' : progressOf(pod, container, statuses.get(container.name)),
  );
  if (main.includes('pending') || sides.includes('pending')) return 'Pending';
  if (main.includes('unknown') || sides.includes('unknown')) return 'Pending';
  if (main.includes('running') || sides.includes('up') || sides.includes('coming up')) return 'Running';
  return ended(pod, main, over, statuses);
}

/** No container runs: will one run again, and if not, was it a success? */
function ended(
  pod: Pod,
  main: readonly Progress[],
  over: boolean,
  statuses: ReadonlyMap<string, ContainerStatus>,
): PodPhase {
  if (main.length === 0) return 'Pending';
  const wellEnded = pod.spec.containers.every(({ name }) => statuses.get(name)?.state.terminated?.exitCode === 0);
  if (over && !isStaticPod(pod)) return wellEnded ? 'Succeeded' : 'Failed';
  if (main.includes('restarting')) return 'Running';
  return wellEnded ? 'Succeeded' : 'Failed';
}

function progressOf(pod: Pod, container: Container, status: ContainerStatus | undefined): Progress {
  if (status === undefined) return 'unknown';
  const { running, terminated, waiting } = status.state;
  if (running !== undefined) return 'running';
  const last = terminated ?? status.lastState.terminated;
  if (last === undefined) return waiting === undefined ? 'unknown' : 'pending';
  const plainInit = (pod.spec.initContainers ?? []).some(({ name }) => name === container.name);
  if (plainInit && last.exitCode === 0) return 'succeeded';
  if (last.reason === RESTARTING_ALL || restartsAfterExit(pod, container, last.exitCode)) return 'restarting';
  return last.exitCode === 0 ? 'succeeded' : 'failed';
}

/** A sidecar that ended will be back as long as it is needed, so it does not count for the phase. */
function sidecarProgress(status: ContainerStatus | undefined): 'unknown' | 'pending' | 'coming up' | 'up' | 'ended' {
  if (status === undefined) return 'unknown';
  if (status.state.running !== undefined) return status.started === true ? 'up' : 'coming up';
  if (status.state.terminated !== undefined || status.lastState.terminated !== undefined) return 'ended';
  return status.state.waiting === undefined ? 'unknown' : 'pending';
}
