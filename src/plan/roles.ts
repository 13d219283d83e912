/** The role of a container in its pod. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { ContainerRole } from '../model/plan.ts';

export interface Role {
  readonly role: ContainerRole;
  /** Undefined for a container that is not in the pod's spec: one that the kubelet did not create, or of an older spec. */
  readonly spec: Container | undefined;
}

export function roleOf(pod: Pod | undefined, name: string): Role {
  const called = (container: Container): boolean => container.name === name;
  const init = pod?.spec.initContainers?.find(called);
  if (init !== undefined) return { role: init.restartPolicy === 'Always' ? 'sidecar' : 'init', spec: init };
  const ephemeral = pod?.spec.ephemeralContainers?.find(called);
  if (ephemeral !== undefined) return { role: 'ephemeral', spec: ephemeral };
  return { role: 'regular', spec: pod?.spec.containers.find(called) };
}

/** The field path of the container in the pod, as events have it. */
export function fieldPathOf(pod: Pod, name: string): string {
  const { role } = roleOf(pod, name);
  if (role === 'regular') return `spec.containers{${name}}`;
  return role === 'ephemeral' ? `spec.ephemeralContainers{${name}}` : `spec.initContainers{${name}}`;
}
