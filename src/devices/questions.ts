/** What others ask about devices: the node, admission, the status of pods, the pod-resources API. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import { quantityFromUnits } from '../api/quantity.ts';
import type { AssignedDevices, DeviceHealth } from '../model/device.ts';
import { type AllocationTable, nodesById } from './allocation-table.ts';
import type { Registry } from './registry.ts';
import { healthyIds } from './rules/inventory.ts';

export interface DeviceQuestions {
  /** Of every resource that a plugin has registered. */
  capacity(): Quantities;
  allocatable(): Quantities;
  /** What admission counts with: a plugin that is about to come back has the devices that it had, and a pod keeps its own. */
  admissible(pod: Pod): Quantities;
  /** What a container has, by resource. */
  devicesOf(uid: PodUid, container: string): readonly AssignedDevices[];
  /** All healthy devices of the node. */
  allocatableDevices(): readonly AssignedDevices[];
  healthOf(uid: PodUid, container: string): readonly DeviceHealth[];
}

const UNHEALTHY = 'Unhealthy';
const HEALTHY = 'Healthy';

export function createQuestions(registry: Registry, table: AllocationTable): DeviceQuestions {
  const quantities = (amount: (name: string) => number): Quantities =>
    new Map([...registry.counts().keys()].map((name) => [name, quantityFromUnits(BigInt(amount(name)), 'decimal')]));
  return {
    capacity: () => quantities((name) => registry.counts().get(name)?.capacity ?? 0),
    allocatable: () => quantities((name) => registry.counts().get(name)?.allocatable ?? 0),
    admissible: (pod) => {
      const counts = registry.counts();
      const own = table.ofPod(podUid(pod.metadata.uid)).length > 0;
      const amount = (name: string): number => {
        const { allocatable = 0, expected = 0 } = counts.get(name) ?? {};
        const promised = registry.lateUntil(name) === undefined ? allocatable : Math.max(allocatable, expected);
        return own ? Math.max(promised, table.inUse(name).size) : promised;
      };
      const names = new Set([...counts.keys(), ...(own ? table.all().map(({ resource }) => resource) : [])]);
      return new Map([...names].map((name) => [name, quantityFromUnits(BigInt(amount(name)), 'decimal')]));
    },
    devicesOf: (uid, container) =>
      table
        .ofContainer(uid, container)
        .filter(({ ids }) => ids.length > 0)
        .map(({ resource, byNode }) => ({ resource, devices: nodesById(byNode) })),
    allocatableDevices: () =>
      [...registry.counts().keys()].flatMap((resource) => {
        const inventory = registry.inventory(resource);
        const ids = healthyIds(inventory);
        if (ids.length === 0) return [];
        return [{ resource, devices: new Map(ids.map((id) => [id, inventory.get(id)?.numaNodes ?? []])) }];
      }),
    healthOf: (uid, container) =>
      table.ofContainer(uid, container).map(({ resource, ids }) => {
        const inventory = registry.inventory(resource);
        const health = (id: string) => (inventory.get(id)?.healthy === false ? UNHEALTHY : HEALTHY);
        return { resource, devices: ids.map((id) => ({ id, health: health(id) })) };
      }),
  };
}
