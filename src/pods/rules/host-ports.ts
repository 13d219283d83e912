/** Host ports that pods request. */
import type { ContainerPort } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';

const EVERY_ADDRESS = '0.0.0.0';

/** Of the init containers only sidecars count. */
function hostPorts(pod: Pod): readonly ContainerPort[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...pod.spec.containers]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

/** The first port of the pod that conflicts with one of the others. */
export function takenPort(pod: Pod, others: readonly Pod[]): ContainerPort | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = new Map<string, Set<string>>();
  for (const port of others.flatMap(hostPorts)) {
    const addresses = taken.get(numberOf(port)) ?? new Set();
    taken.set(numberOf(port), addresses.add(addressOf(port)));
  }
  return wanted.find((port) => {
    const addresses = taken.get(numberOf(port));
    if (addresses === undefined) return false;
    const address = addressOf(port);
    return address === EVERY_ADDRESS || addresses.has(address) || addresses.has(EVERY_ADDRESS);
  });
}

const numberOf = ({ hostPort, protocol = 'TCP' }: ContainerPort): string => `${protocol}/${hostPort}`;
const addressOf = ({ hostIP }: ContainerPort): string => hostIP || EVERY_ADDRESS;
