/** What the plugins of a container's devices want to have in the request that creates it. Of two that set the same thing, the first wins. */
import type { ContainerAssignment } from '../../model/assignment.ts';
import type { ContainerAllocateResponse } from '../../wire/gen/device-plugin-v1beta1.ts';

export function containerShare(responses: readonly ContainerAllocateResponse[]): ContainerAssignment {
  const env = new Map<string, string>();
  const annotations = new Map<string, string>();
  const mounts = new Map<string, NonNullable<ContainerAssignment['mounts']>[number]>();
  const devices = new Map<string, NonNullable<ContainerAssignment['devices']>[number]>();
  const cdiDevices = new Set<string>();
  for (const response of responses) {
    for (const [name, value] of Object.entries(response.envs)) setOnce(env, name, value);
    for (const [name, value] of Object.entries(response.annotations)) setOnce(annotations, name, value);
    for (const { containerPath, hostPath, readOnly } of response.mounts)
      setOnce(mounts, containerPath, { containerPath, hostPath, readonly: readOnly });
    for (const { containerPath, hostPath, permissions } of response.devices)
      setOnce(devices, containerPath, { containerPath, hostPath, permissions });
    for (const { name } of response.cdiDevices) cdiDevices.add(name);
  }
  return {
    env: [...env].map(([name, value]) => ({ name, value })),
    annotations: Object.fromEntries(annotations),
    mounts: [...mounts.values()],
    devices: [...devices.values()],
    cdiDevices: [...cdiDevices],
  };
}

function setOnce<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}
