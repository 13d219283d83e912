/** Devices in the form of the pod-resources API. */
import type { AssignedDevices } from '../../model/device.ts';
import type { ContainerDevices } from '../../wire/gen/pod-resources-v1.ts';
import type { Init } from '../../wire/message.ts';

/** One entry for each device, as clients know it from other kubelets: each has its own NUMA nodes. */
export function containerDevices(assigned: readonly AssignedDevices[]): readonly Init<ContainerDevices>[] {
  return assigned.flatMap(({ resource, devices }) =>
    [...devices].map(([id, nodes]) => ({
      resourceName: resource,
      deviceIds: [id],
      ...(nodes.length === 0 ? {} : { topology: { nodes: nodes.map((node) => ({ id: node })) } }),
    })),
  );
}
