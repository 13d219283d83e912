/** One container's share of several providers as one. The first provider that sets a single value wins. */
import type { ContainerAssignment } from '../../model/assignment.ts';

export function mergeAssignments(parts: readonly ContainerAssignment[]): ContainerAssignment {
  const [first = {}, ...more] = parts;
  return more.reduce(mergeTwo, first);
}

function mergeTwo(left: ContainerAssignment, right: ContainerAssignment): ContainerAssignment {
  return {
    ...right,
    ...left,
    env: [...(left.env ?? []), ...(right.env ?? [])],
    mounts: [...(left.mounts ?? []), ...(right.mounts ?? [])],
    devices: [...(left.devices ?? []), ...(right.devices ?? [])],
    annotations: { ...right.annotations, ...left.annotations },
    cdiDevices: [...(left.cdiDevices ?? []), ...(right.cdiDevices ?? [])],
  };
}
