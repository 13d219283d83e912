/** `started` and `ready`: the verdicts of probes on a running container, and what is assumed until there is one. */
import type { Container } from '../../api/container.ts';
import type { ContainerStatus } from '../../api/pod-status.ts';
import type { ProbeVerdict } from '../../model/probe-results.ts';
import type { StatusInput } from './status-input.ts';

export interface ProbeContext {
  readonly input: StatusInput;
  readonly container: Container;
  readonly plainInit: boolean;
  readonly previous: ContainerStatus | undefined;
}

export function withProbes(context: ProbeContext, status: ContainerStatus): ContainerStatus {
  const started = isStarted(context, status);
  if (context.plainInit) return { ...status, started, ready: status.state.terminated?.exitCode === 0 };
  return { ...status, started, ready: started && isReady(context, status) };
}

function isStarted({ input, container, previous }: ProbeContext, status: ContainerStatus): boolean {
  if (status.state.running === undefined) return false;
  if (container.startupProbe === undefined) return true;
  const verdict = verdictOf(input.probes.startup, input, status);
  if (verdict === 'success' || verdict === 'failure') return verdict === 'success';
  return sameContainer(previous, status) && previous?.started === true;
}

function isReady({ input, container, previous }: ProbeContext, status: ContainerStatus): boolean {
  if (status.state.running === undefined) return false;
  if (container.readinessProbe === undefined) return true;
  const verdict = verdictOf(input.probes.readiness, input, status);
  if (verdict === 'success' || verdict === 'failure') return verdict === 'success';
  // After a restart of the kubelet there is no verdict yet: the status of the same container from before counts.
  return sameContainer(previous, status) && previous?.ready === true;
}

function sameContainer(previous: ContainerStatus | undefined, status: ContainerStatus): boolean {
  return previous?.containerID !== undefined && previous.containerID === status.containerID;
}

function verdictOf(
  results: ReadonlyMap<string, ProbeVerdict>,
  { runtimeName }: StatusInput,
  { containerID = '' }: ContainerStatus,
): ProbeVerdict | undefined {
  return results.get(containerID.slice(`${runtimeName}://`.length));
}
