/** The devices that a plugin has listed for its resource. */
import { LARGEST_NUMA_ID, type NumaMask } from '../../model/assignment.ts';
import type { Device } from '../../wire/gen/device-plugin-v1beta1.ts';

export interface PluginDevice {
  readonly id: string;
  readonly healthy: boolean;
  /** Ids of the NUMA nodes that it is near to; none: the plugin does not say. */
  readonly numaNodes: readonly number[];
  readonly mask: NumaMask;
}

/** By id, in the order of the plugin. */
export type Inventory = ReadonlyMap<string, PluginDevice>;

const HEALTHY = 'Healthy';

export const NO_DEVICES: Inventory = new Map();

export function inventoryOf(devices: readonly Device[]): Inventory {
  const inventory = new Map<string, PluginDevice>();
  for (const { id, health, topology } of devices) {
    const numaNodes = (topology?.nodes ?? []).map((node) => node.id);
    inventory.set(id, { id, healthy: health === HEALTHY, numaNodes, mask: maskOf(numaNodes) });
  }
  return inventory;
}

export function maskOf(numaNodes: readonly number[]): NumaMask {
  return numaNodes.reduce((mask, id) => (id >= 0 && id <= LARGEST_NUMA_ID ? mask | (1 << id) : mask), 0);
}

/** The plugin is gone: its devices are known, and none can be used. */
export function allUnhealthy(inventory: Inventory): Inventory {
  return new Map([...inventory].map(([id, device]) => [id, { ...device, healthy: false }]));
}

export function healthyIds(inventory: Inventory): readonly string[] {
  const ids: string[] = [];
  for (const { id, healthy } of inventory.values()) if (healthy) ids.push(id);
  return ids;
}

/** Ids of which the health is another now, or is known again. */
export function changedHealth(before: Inventory, now: Inventory): readonly string[] {
  const changed: string[] = [];
  for (const { id, healthy } of now.values()) if (before.get(id)?.healthy !== healthy) changed.push(id);
  return changed;
}
