/** Ports of the node that pods want for themselves. */
import type { ContainerPort } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { isSidecar } from '../../api/pod-traits.ts';

const EVERY_ADDRESS = '0.0.0.0';

/** Init containers don't count, but for those that stay. */
export function hostPorts(pod: Pod): readonly ContainerPort[] {
  const sidecars = (pod.spec.initContainers ?? []).filter((container) => isSidecar(pod, container));
  return [...sidecars, ...pod.spec.containers]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

/** The first port that one of the others has already. */
export function takenPort(pod: Pod, others: readonly Pod[]): ContainerPort | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = others.flatMap(hostPorts);
  return wanted.find((port) => taken.some((other) => areSame(port, other)));
}

function areSame(a: ContainerPort, b: ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || (a.protocol ?? 'TCP') !== (b.protocol ?? 'TCP')) return false;
  const [one, other] = [a.hostIP || EVERY_ADDRESS, b.hostIP || EVERY_ADDRESS];
  return one === other || one === EVERY_ADDRESS || other === EVERY_ADDRESS;
}
