/** Whether a container that ended runs again: its own rules first, then its own policy, then the pod's. */
import type { Container, ContainerRestartRule, RestartPolicy } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import { isSidecar } from '../api/pod-traits.ts';

export function restartPolicyOf(pod: Pod, container: Container): RestartPolicy {
  return container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
}

/** The first rule that applies to this exit code. */
export function matchingRule(container: Container, exitCode: number): ContainerRestartRule | undefined {
  return (container.restartPolicyRules ?? []).find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const listed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'In' ? listed : !listed;
  });
}

export function restartsAfterExit(pod: Pod, container: Container, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchingRule(container, exitCode) !== undefined) return true;
  const policy = restartPolicyOf(pod, container);
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** For a container that did not end by itself, so that there is no exit code. */
export function restartsAfterFailure(pod: Pod, container: Container): boolean {
  return restartPolicyOf(pod, container) !== 'Never';
}

export function asksToRestartAll(container: Container, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Some exit code of some container restarts the whole pod. */
export function mayRestartAll(pod: Pod): boolean {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].some((container) =>
    (container.restartPolicyRules ?? []).some(({ action }) => action === 'RestartAllContainers'),
  );
}

/** An init container that has to succeed before the next one starts. */
export function isPlainInit(pod: Pod, container: Container): boolean {
  return (pod.spec.initContainers ?? []).includes(container) && !isSidecar(pod, container);
}
