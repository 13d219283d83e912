/** The parts of a container's status that follow from its description or stand in the runtime's answer as they are. */
import type { Container, VolumeMount } from '../../api/container.ts';
import type { ContainerStatus } from '../../api/pod-status.ts';
import { resourcesOf } from '../../model/allocation.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { resourcesInForce } from './resources-in-force.ts';
import type { StatusInput } from './status-input.ts';

type MountStatus = NonNullable<ContainerStatus['volumeMounts']>[number];
export type Facts = Partial<
  Pick<ContainerStatus, 'resources' | 'allocatedResources' | 'allocatedResourcesStatus' | 'user' | 'stopSignal'>
>;

export function mountStatuses(
  container: Container,
  recursive: boolean,
): Partial<Pick<ContainerStatus, 'volumeMounts'>> {
  const mounts = container.volumeMounts ?? [];
  return mounts.length === 0 ? {} : { volumeMounts: mounts.map((mount) => mountStatus(mount, recursive)) };
}

function mountStatus({ name, mountPath, readOnly, recursiveReadOnly }: VolumeMount, recursive: boolean): MountStatus {
  if (readOnly !== true) return { name, mountPath };
  const whole = recursiveReadOnly === 'Enabled' || (recursiveReadOnly === 'IfPossible' && recursive);
  return { name, mountPath, readOnly, recursiveReadOnly: whole ? 'Enabled' : 'Disabled' };
}

/** Only for a container that is there: one that waits to be made uses nothing yet. */
export function observedFacts(container: Container, seen: ObservedContainer, input: StatusInput): Facts {
  const { gates, inForce } = input;
  const requests = container.resources?.requests;
  return {
    resources: resourcesInForce(container.resources ?? {}, seen, inForce && resourcesOf(inForce, container.name)),
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    ...deviceFacts(container, input),
    ...userOf(seen),
    ...(gates.containerStopSignals && seen.stopSignal !== '' ? { stopSignal: seen.stopSignal } : {}),
  };
}

/** Not for init containers. */
function deviceFacts(
  container: Container,
  { pod, deviceHealth }: StatusInput,
): Pick<Facts, 'allocatedResourcesStatus'> {
  const isRegular = pod.spec.containers.some(({ name }) => name === container.name);
  const devices = isRegular ? (deviceHealth?.(container.name) ?? []) : [];
  if (devices.length === 0) return {};
  const allocatedResourcesStatus = devices.map(({ resource, devices: ids }) => ({
    name: resource,
    resources: ids.map(({ id, health }) => ({ resourceID: id, health })),
  }));
  return { allocatedResourcesStatus };
}

function userOf({ user }: ObservedContainer): Pick<ContainerStatus, 'user'> | undefined {
  if (user === undefined) return undefined;
  const { uid, gid, groups } = user;
  return { user: { linux: { uid, gid, ...(groups.length === 0 ? {} : { supplementalGroups: groups }) } } };
}
