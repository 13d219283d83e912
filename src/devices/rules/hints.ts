/** From which NUMA nodes a number of devices can be had. */
import type { NumaMask, TopologyHint } from '../../model/assignment.ts';
import type { Inventory } from './inventory.ts';

export interface HintsInput {
  readonly inventory: Inventory;
  readonly request: number;
  /** Ids that can be given to the container. */
  readonly available: ReadonlySet<string>;
  /** Ids that its pod has already: a set of nodes must have all of them. */
  readonly reusable: ReadonlySet<string>;
  /** Ids of the NUMA nodes of the machine. */
  readonly numaNodes: readonly number[];
}

/** Any devices will do: the plugin says of none where it is. */
export function hasTopology(inventory: Inventory): boolean {
  for (const { numaNodes } of inventory.values()) if (numaNodes.length > 0) return true;
  return false;
}

/** Devices are counted by where they are, once: with 10,000 devices and 255 sets of nodes, each device must not be looked at for each set. */
interface Place {
  readonly mask: NumaMask;
  all: number;
  available: number;
  reusable: number;
}

export function deviceHints({
  inventory,
  request,
  available,
  reusable,
  numaNodes,
}: HintsInput): readonly TopologyHint[] {
  const places = countPlaces(inventory, available, reusable);
  const used = places.reduce((mask, place) => mask | place.mask, 0);
  const bearing = numaNodes.filter((id) => (used & (1 << id)) !== 0);
  const nodes = bearing.length === 0 ? numaNodes : bearing;
  let smallest = nodes.length;
  const hints: { affinity: NumaMask; size: number }[] = [];
  for (const { mask, size } of subsets(nodes)) {
    const inside = places.filter((place) => (place.mask & mask) !== 0);
    const total = inside.reduce((sum, { all }) => sum + all, 0);
    if (total >= request && size < smallest) smallest = size;
    if (places.some((place) => place.mask !== 0 && place.reusable > 0 && (place.mask & mask) === 0)) continue;
    const matching = inside.reduce((sum, place) => sum + place.reusable + place.available, 0);
    if (matching >= request) hints.push({ affinity: mask, size });
  }
  return hints.map(({ affinity, size }) => ({ affinity, preferred: size === smallest }));
}

function countPlaces(
  inventory: Inventory,
  available: ReadonlySet<string>,
  reusable: ReadonlySet<string>,
): readonly Place[] {
  const places = new Map<NumaMask, Place>();
  for (const { id, mask } of inventory.values()) {
    const place = places.get(mask) ?? { mask, all: 0, available: 0, reusable: 0 };
    place.all += 1;
    if (reusable.has(id)) place.reusable += 1;
    else if (available.has(id)) place.available += 1;
    places.set(mask, place);
  }
  return [...places.values()];
}

/** Small sets first; of the same size, those with the first nodes first. */
function subsets(nodes: readonly number[]): readonly { readonly mask: NumaMask; readonly size: number }[] {
  const found: { mask: NumaMask; size: number; order: number }[] = [];
  const count = 2 ** nodes.length;
  for (let chosen = 1; chosen < count; chosen += 1) {
    let mask = 0;
    let size = 0;
    let order = 0;
    for (const [index, id] of nodes.entries()) {
      const isIn = (chosen & (1 << index)) !== 0;
      order = order * 2 + (isIn ? 0 : 1);
      if (!isIn) continue;
      mask |= 1 << id;
      size += 1;
    }
    found.push({ mask, size, order });
  }
  return found.sort((a, b) => a.size - b.size || a.order - b.order);
}
