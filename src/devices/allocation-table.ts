/** Which container has which devices, and what the plugins answered. On disk it is the checkpoint. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isSidecar } from '../api/pod-traits.ts';
import type { ContainerAllocateResponse } from '../wire/gen/device-plugin-v1beta1.ts';
import type { DevicesByNode } from './rules/checkpoint.ts';
import type { Inventory } from './rules/inventory.ts';

export interface DeviceAllocation {
  readonly ids: readonly string[];
  readonly byNode: DevicesByNode;
  /** Undefined until the plugin has answered: it is not on disk yet. */
  readonly response: ContainerAllocateResponse | undefined;
}

export interface AllocatedContainer extends DeviceAllocation {
  readonly uid: PodUid;
  readonly container: string;
  readonly resource: string;
}

export interface AllocationTable {
  get(uid: PodUid, container: string, resource: string): DeviceAllocation | undefined;
  set(allocated: AllocatedContainer): void;
  ofContainer(uid: PodUid, container: string): readonly AllocatedContainer[];
  ofPod(uid: PodUid): readonly AllocatedContainer[];
  all(): readonly AllocatedContainer[];
  uids(): readonly PodUid[];
  /** Whether there was anything. */
  delete(uid: PodUid): boolean;
  /** Device ids of this resource that some container has, with its pod. */
  inUse(resource: string): ReadonlyMap<string, PodUid>;
}

export function createAllocationTable(): AllocationTable {
  const pods = new Map<PodUid, Map<string, AllocatedContainer>>();
  const keyOf = (container: string, resource: string) => `${container} ${resource}`;
  const ofPod = (uid: PodUid): readonly AllocatedContainer[] => [...(pods.get(uid)?.values() ?? [])];
  const all = () => [...pods.values()].flatMap((entries) => [...entries.values()]);
  return {
    get: (uid, container, resource) => pods.get(uid)?.get(keyOf(container, resource)),
    set: (allocated) => {
      const entries = pods.get(allocated.uid) ?? new Map<string, AllocatedContainer>();
      entries.set(keyOf(allocated.container, allocated.resource), allocated);
      pods.set(allocated.uid, entries);
    },
    ofContainer: (uid, container) => ofPod(uid).filter((allocated) => allocated.container === container),
    ofPod,
    all,
    uids: () => [...pods.keys()],
    delete: (uid) => pods.delete(uid),
    inUse: (resource) => {
      const used = new Map<string, PodUid>();
      for (const { uid, resource: own, ids } of all()) if (own === resource) for (const id of ids) used.set(id, uid);
      return used;
    },
  };
}

/** Devices of ordinary init containers: they have ended when later containers of the pod run. A sidecar goes on, and keeps its own. */
export function reusableDevices(table: AllocationTable, pod: Pod, resource: string): ReadonlySet<string> {
  const ended = new Set(
    (pod.spec.initContainers ?? []).filter((container) => !isSidecar(pod, container)).map(({ name }) => name),
  );
  const allocated = table.ofPod(pod.metadata.uid as PodUid).filter((one) => one.resource === resource);
  const kept = new Set(allocated.filter(({ container }) => !ended.has(container)).flatMap(({ ids }) => ids));
  const all = allocated.filter(({ container }) => ended.has(container)).flatMap(({ ids }) => ids);
  return new Set(all.filter((id) => !kept.has(id)));
}

const WITHOUT_NODE = '-1';

export function byNodeOf(ids: readonly string[], inventory: Inventory): DevicesByNode {
  const byNode: Record<string, string[]> = {};
  for (const id of ids) {
    const nodes = inventory.get(id)?.numaNodes ?? [];
    for (const node of nodes.length === 0 ? [WITHOUT_NODE] : nodes.map(String)) {
      const own = byNode[node] ?? [];
      own.push(id);
      byNode[node] = own;
    }
  }
  return byNode;
}

/** The NUMA nodes of each device, as they were when it was allocated. */
export function nodesById(byNode: DevicesByNode): ReadonlyMap<string, readonly number[]> {
  const nodes = new Map<string, number[]>();
  for (const [node, ids] of Object.entries(byNode)) {
    for (const id of ids) {
      const own = nodes.get(id) ?? [];
      if (node !== WITHOUT_NODE) own.push(Number(node));
      nodes.set(id, own);
    }
  }
  return nodes;
}
