/** Decides which devices a container gets, and has the plugins allocate them. Texts of refusals are those of the reference kubelet. */
import type { Container } from '../api/container.ts';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { quantityOf } from '../api/pod-resources.ts';
import { quantityValue } from '../api/quantity.ts';
import { formatTimestamp } from '../api/timestamp.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Assigned, AssignmentRequest, TopologyHint } from '../model/assignment.ts';
import { type AllocatedContainer, type AllocationTable, byNodeOf, reusableDevices } from './allocation-table.ts';
import type { Registry } from './registry.ts';
import { finishPick, type Pick, planPick } from './rules/pick-devices.ts';

export interface AllocateDeps {
  readonly log: Logger;
  readonly registry: Registry;
  readonly table: AllocationTable;
  readonly mono: () => number;
  /** How long the plugin's Allocate took, seconds. */
  readonly onAllocated: (resource: string, seconds: number) => void;
}

export interface Allocate {
  decide(request: AssignmentRequest, signal: AbortSignal): Promise<Assigned>;
  /** Calls the plugins for what was decided. Rejects with the text for the refusal. */
  confirm(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Whether a device plugin serves, or has served, this resource. */
  isDeviceResource(resource: string): boolean;
  /** What the container requests of device plugins: more than none. */
  requestsOf(container: Container): ReadonlyMap<string, number>;
}

const DONE: Assigned = { kind: 'done' };

export function createAllocate(deps: AllocateDeps): Allocate {
  const { log, registry, table, mono, onAllocated } = deps;
  const isDeviceResource = (resource: string): boolean =>
    registry.has(resource) || table.all().some((allocated) => allocated.resource === resource);

  const requestsOf = (container: Container): ReadonlyMap<string, number> => {
    const limits = container.resources?.limits ?? {};
    const amounts = Object.keys(limits)
      .filter((name) => name.includes('/') && isDeviceResource(name))
      .map((name) => [name, Number(quantityValue(quantityOf(limits, name)))] as const);
    return new Map(amounts.filter(([, amount]) => amount > 0));
  };

  const decideOne = async (
    { pod, container, resource, needed }: ResourceRequest,
    hint: TopologyHint | undefined,
    signal: AbortSignal,
  ): Promise<Assigned> => {
    const uid = podUid(pod.metadata.uid);
    const had = table.get(uid, container.name, resource);
    if (had !== undefined && had.ids.length !== needed)
      return refusal(
        `pod ${JSON.stringify(uid)} container ${JSON.stringify(container.name)} changed request for resource ` +
          `${JSON.stringify(resource)} from ${had.ids.length} to ${needed}`,
      );
    const problem = checkPlugin(registry, resource, had?.ids ?? []);
    if (problem !== undefined || had !== undefined) return problem ?? DONE;
    const inventory = registry.inventory(resource);
    const reusable = reusableDevices(table, pod, resource);
    const plan = planPick({ inventory, needed, reusable, inUse: new Set(table.inUse(resource).keys()), hint });
    if (plan.kind === 'too-few')
      return refusal(
        `requested number of devices unavailable for ${resource}. Requested: ${plan.needed}, Available: ${plan.available}`,
      );
    const ids = finishPick(plan, await preferredOf(registry, resource, plan, signal));
    table.set({ uid, container: container.name, resource, ids, byNode: byNodeOf(ids, inventory), response: undefined });
    return DONE;
  };

  const confirmOne = async (allocated: AllocatedContainer, signal: AbortSignal): Promise<void> => {
    const { resource, ids, uid, container } = allocated;
    const plugin = registry.plugin(resource);
    if (plugin === undefined) throw new Error(`unknown Device Plugin ${resource}`);
    log
      .v(4)
      ?.info('Making allocation request for device plugin', { devices: ids, resourceName: resource, podUID: uid });
    const began = mono();
    try {
      const response = await plugin.endpoint.allocate(ids, signal);
      if (response === undefined) throw new Error('no containers return in allocation response');
      // The pod may have been released meanwhile.
      if (table.get(uid, container, resource)?.ids === ids) table.set({ ...allocated, response });
    } finally {
      onAllocated(resource, (mono() - began) / 1000);
    }
  };

  return {
    isDeviceResource,
    requestsOf,
    decide: async ({ pod, container, hint }, signal) => {
      for (const [resource, needed] of requestsOf(container)) {
        const assigned = await decideOne({ pod, container, resource, needed }, hint, signal);
        if (assigned.kind !== 'done') return assigned;
      }
      return DONE;
    },
    confirm: async (pod, signal) => {
      for (const allocated of table.ofPod(pod.metadata.uid as PodUid))
        if (allocated.response === undefined) await confirmOne(allocated, signal);
    },
  };
}

/** Undefined: the plugin may be asked for devices. */
function checkPlugin(registry: Registry, resource: string, had: readonly string[]): Assigned | undefined {
  const late = registry.lateUntil(resource);
  if (!registry.has(resource)) return refusal(`cannot allocate unregistered device ${resource}`);
  const inventory = registry.inventory(resource);
  const isHealthy = (id: string) => inventory.get(id)?.healthy === true;
  const anyHealthy = [...inventory.values()].some(({ healthy }) => healthy);
  if (anyHealthy && had.every(isHealthy)) return undefined;
  if (late !== undefined) return waiting(resource, late);
  return refusal(
    anyHealthy
      ? `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`
      : `no healthy devices present; cannot allocate unhealthy devices ${resource}`,
  );
}

function waiting(resource: string, until: number): Assigned {
  const bound = `until ${formatTimestamp(until)} at most`;
  const message = `Waiting for the device plugin of ${resource} to register and list its devices, ${bound}`;
  return { kind: 'waiting', reason: 'WaitingForDevicePlugin', message };
}

async function preferredOf(
  registry: Registry,
  resource: string,
  pick: Pick,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const plugin = registry.plugin(resource);
  if (plugin?.options.getPreferredAllocationAvailable !== true || pick.rest === 0) return [];
  const request = {
    available: [...pick.candidates, ...pick.taken],
    mustInclude: pick.taken,
    size: pick.taken.length + pick.rest,
  };
  try {
    return await plugin.endpoint.preferred(request, signal);
  } catch (error) {
    signal.throwIfAborted();
    const problem = `device plugin GetPreferredAllocation rpc failed with err: ${describeError(error)}`;
    throw new Error(problem, { cause: error });
  }
}

interface ResourceRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly resource: string;
  readonly needed: number;
}

export function refusal(problem: string): Assigned {
  const message = `Allocate failed due to ${problem}, which is unexpected`;
  return { kind: 'refused', reason: 'UnexpectedAdmissionError', message };
}
