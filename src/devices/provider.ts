/** Devices as the pass that assigns resources to pods sees them. */
import type { Container } from '../api/container.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { podLimits } from '../api/pod-resources.ts';
import { allContainers } from '../api/pod-traits.ts';
import { quantityValue } from '../api/quantity.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type {
  Assigned,
  AssignmentRequest,
  ContainerAssignment,
  TopologyHint,
  TopologyHints,
} from '../model/assignment.ts';
import { type Allocate, refusal } from './allocate.ts';
import { type AllocationTable, reusableDevices } from './allocation-table.ts';
import type { Registry } from './registry.ts';
import { containerShare } from './rules/container-share.ts';
import { deviceHints, hasTopology } from './rules/hints.ts';
import { healthyIds } from './rules/inventory.ts';

export interface DeviceProvider {
  readonly name: string;
  concerns(pod: Pod): boolean;
  hintsFor(pod: Pod, container: Container): TopologyHints;
  hintsForPod(pod: Pod): TopologyHints;
  allocate(request: AssignmentRequest, signal: AbortSignal): Promise<Assigned>;
  complete(pod: Pod, signal: AbortSignal): Promise<Assigned>;
  prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerAssignment>;
  release(uid: PodUid): void;
}

const DONE: Assigned = { kind: 'done' };

export interface ProviderTools {
  readonly log: Logger;
  /** Ids of the machine's NUMA nodes. */
  readonly numaNodes: readonly number[];
  /** UIDs of all pods that are here or may come; undefined while that is not known. */
  readonly knownPods: () => ReadonlySet<string> | undefined;
  readonly registry: Registry;
  readonly table: AllocationTable;
  readonly allocate: Allocate;
  readonly file: { save(): Promise<void> };
  readonly save: () => void;
}

interface HintsRequest {
  readonly pod: Pod;
  readonly requests: ReadonlyMap<string, number>;
  /** What was allocated before, by resource. */
  readonly had: (resource: string) => readonly string[];
}

function hintsOf({ registry, table, numaNodes }: ProviderTools, { pod, requests, had }: HintsRequest): TopologyHints {
  const hintsFor = (resource: string, request: number): readonly TopologyHint[] | undefined => {
    const inventory = registry.inventory(resource);
    if (!hasTopology(inventory)) return undefined;
    const own = had(resource);
    const common = { inventory, request, numaNodes };
    if (own.length > 0 && own.length !== request) return [];
    if (own.length > 0) return deviceHints({ ...common, available: new Set(own), reusable: new Set() });
    const used = table.inUse(resource);
    const available = new Set(healthyIds(inventory).filter((id) => !used.has(id)));
    const reusable = reusableDevices(table, pod, resource);
    return available.size + reusable.size < request ? [] : deviceHints({ ...common, available, reusable });
  };
  return new Map([...requests].map(([resource, request]) => [resource, hintsFor(resource, request)]));
}

export function createProvider(tools: ProviderTools): DeviceProvider {
  const { registry, table, allocate, knownPods, file, save, log } = tools;

  /** Pods that ended while no kubelet ran. */
  const releaseUnknown = (): void => {
    const known = knownPods();
    if (known === undefined) return;
    for (const uid of table.uids()) if (!known.has(uid)) table.delete(uid);
  };

  const confirm = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    if (table.ofPod(podUid(pod.metadata.uid)).every(({ response }) => response !== undefined)) return;
    await allocate.confirm(pod, signal);
    await file.save();
  };

  /** A device resource that the container has nothing of: its pod runs since before its plugin was known here. */
  const reallocate = async (pod: Pod, container: Container, signal: AbortSignal): Promise<void> => {
    const decided = await allocate.decide({ pod, container, hint: undefined }, signal);
    if (decided.kind !== 'done') throw new Error(decided.message);
    await confirm(pod, signal);
  };

  const preStart = async (pod: Pod, container: Container, resource: string, signal: AbortSignal): Promise<void> => {
    const plugin = registry.plugin(resource);
    if (plugin?.options.preStartRequired !== true) return;
    const uid = podUid(pod.metadata.uid);
    const had = table.get(uid, container.name, resource);
    const place = `pod ${uid}, container ${container.name}, resource ${resource}`;
    if (had === undefined) throw new Error(`no devices found allocated in local cache for ${place}`);
    try {
      await plugin.endpoint.preStart(had.ids, signal);
    } catch (error) {
      signal.throwIfAborted();
      const problem = `device plugin PreStartContainer rpc failed with err: ${describeError(error)}`;
      throw new Error(problem, { cause: error });
    }
  };

  return {
    name: 'devices',
    concerns: (pod) => allContainers(pod).some((container) => allocate.requestsOf(container).size > 0),
    hintsFor: (pod, container) => {
      const uid = podUid(pod.metadata.uid);
      const had = (resource: string) => table.get(uid, container.name, resource)?.ids ?? [];
      releaseUnknown();
      return hintsOf(tools, { pod, requests: allocate.requestsOf(container), had });
    },
    hintsForPod: (pod) => {
      const uid = podUid(pod.metadata.uid);
      const had = (resource: string) => [
        ...new Set(table.ofPod(uid).flatMap((one) => (one.resource === resource ? one.ids : []))),
      ];
      const limits = podLimits(pod, { podLevel: false, overhead: false });
      const requests = [...limits]
        .filter(([name]) => name.includes('/') && allocate.isDeviceResource(name))
        .map(([name, quantity]) => [name, Number(quantityValue(quantity))] as const);
      releaseUnknown();
      return hintsOf(tools, { pod, requests: new Map(requests.filter(([, amount]) => amount > 0)), had });
    },
    allocate: (request, signal) => {
      releaseUnknown();
      return allocate.decide(request, signal);
    },
    complete: async (pod, signal) => {
      try {
        await confirm(pod, signal);
        return DONE;
      } catch (error) {
        signal.throwIfAborted();
        log.error('Failed to allocate devices', { pod: pod.metadata.name, podUID: pod.metadata.uid, err: error });
        return refusal(describeError(error));
      }
    },
    prepare: async (pod, container, signal) => {
      const uid = podUid(pod.metadata.uid);
      const requests = allocate.requestsOf(container);
      if (requests.size === 0) return {};
      const missing = [...requests.keys()].some((resource) => table.get(uid, container.name, resource) === undefined);
      if (missing) await reallocate(pod, container, signal);
      for (const resource of requests.keys()) await preStart(pod, container, resource, signal);
      return containerShare(table.ofContainer(uid, container.name).flatMap(({ response }) => response ?? []));
    },
    release: (uid) => {
      if (table.delete(uid)) save();
    },
  };
}
