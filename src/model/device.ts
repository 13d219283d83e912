/** The devices of a container, as the pod-resources API and the status of its pod show them. */

export interface AssignedDevices {
  readonly resource: string;
  /** The ids of the devices, each with the NUMA nodes that it is near to. */
  readonly devices: ReadonlyMap<string, readonly number[]>;
}

export interface DeviceHealth {
  readonly resource: string;
  readonly devices: readonly { readonly id: string; readonly health: 'Healthy' | 'Unhealthy' }[];
}
