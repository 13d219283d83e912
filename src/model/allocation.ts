/**
 * The resources of a pod as two records have them. What is allocated to it: its share of the node, which its containers are started with.
 * What is in force: what its cgroups and running containers were last given. Where its spec requests other resources than are
 * allocated, a resize is pending; where other resources are allocated than are in force, a resize is in progress.
 */
import type { Container, ResourceRequirements } from '../api/container.ts';
import type { ResourceList } from '../api/meta.ts';
import type { Pod } from '../api/pod.ts';
import { quantityOf } from '../api/pod-resources.ts';
import { compareQuantities } from '../api/quantity.ts';
import { sameJson } from '../base/same-json.ts';

export interface Allocation {
  /** Of init and regular containers, by name. What is in force has none for a container that is being changed. */
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
  /** Of the pod as a whole; undefined where it has none. */
  readonly pod: ResourceRequirements | undefined;
}

export interface AllocationOptions {
  /** The gate InPlacePodLevelResourcesVerticalScaling: the pod's own resources are part of an allocation. */
  readonly podLevel: boolean;
}

/** Both conditions of a pod that is resized; `since` is wall clock, ms. */
export interface PodResize {
  /** The pod does not get what its spec requests. */
  readonly pending?: {
    readonly reason: 'Deferred' | 'Infeasible';
    readonly message: string;
    readonly generation: number;
    readonly since: number;
  };
  /** What is allocated is not in force yet; with a message where the last try failed. */
  readonly inProgress?: { readonly error?: string; readonly generation: number; readonly since: number };
}

export function allocationOf({ spec }: Pod, { podLevel }: AllocationOptions): Allocation {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const containers = Object.fromEntries(all.map(({ name, resources }) => [name, resources ?? {}]));
  return { containers, pod: podLevel ? spec.resources : undefined };
}

export function resourcesOf({ containers }: Allocation, name: string): ResourceRequirements | undefined {
  return Object.hasOwn(containers, name) ? containers[name] : undefined;
}

/** The pod with these resources; the same object where its spec requests exactly these. */
export function withAllocation(pod: Pod, allocation: Allocation, { podLevel }: AllocationOptions): Pod {
  const { initContainers, containers, resources, ...spec } = pod.spec;
  const withOwn = (container: Container): Container => {
    const allocated = resourcesOf(allocation, container.name);
    if (allocated === undefined || sameResources(allocated, container.resources)) return container;
    return { ...container, resources: allocated };
  };
  const init = initContainers?.map(withOwn);
  const regular = containers.map(withOwn);
  const own = podLevel && !sameResources(allocation.pod, resources) ? allocation.pod : resources;
  const same =
    own === resources && isSame(regular, containers) && (init === undefined || isSame(init, initContainers ?? []));
  if (same) return pod;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(init === undefined ? {} : { initContainers: init }),
      containers: regular,
      ...(own === undefined ? {} : { resources: own }),
    },
  };
}

const isSame = (left: readonly Container[], right: readonly Container[]): boolean =>
  left.every((container, index) => container === right[index]);

/** Compares amounts, not how they are written. */
export function sameResources(left: ResourceRequirements = {}, right: ResourceRequirements = {}): boolean {
  return (
    sameAmounts(left.limits, right.limits) &&
    sameAmounts(left.requests, right.requests) &&
    sameJson(left.claims ?? [], right.claims ?? [])
  );
}

function sameAmounts(left: ResourceList = {}, right: ResourceList = {}): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every(
    (name) => Object.hasOwn(right, name) && compareQuantities(quantityOf(left, name), quantityOf(right, name)) === 0,
  );
}

/**
 * What of the node the pod takes: while it is resized, the larger one of what is allocated to it and of what is in force. Until a smaller
 * limit is in force, no other pod may count on the rest.
 */
export function withLargerRequests(pod: Pod, inForce: Allocation): Pod {
  const larger = (container: Container): Container => {
    const resources = largerRequests(container.resources, resourcesOf(inForce, container.name));
    return resources === container.resources || resources === undefined ? container : { ...container, resources };
  };
  const { initContainers = [], containers, resources } = pod.spec;
  const own = resources === undefined ? resources : largerRequests(resources, inForce.pod);
  const init = initContainers.map(larger);
  const regular = containers.map(larger);
  if (own === resources && isSame(regular, containers) && isSame(init, initContainers)) return pod;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(init.length === 0 ? {} : { initContainers: init }),
      containers: regular,
      ...(own === undefined ? {} : { resources: own }),
    },
  };
}

function largerRequests(
  allocated: ResourceRequirements | undefined,
  inForce: ResourceRequirements | undefined,
): ResourceRequirements | undefined {
  const requests = { ...allocated?.requests };
  let changed = false;
  for (const [name, amount] of Object.entries(inForce?.requests ?? {})) {
    if (name === CHANGING) continue;
    if (compareQuantities(quantityOf(inForce?.requests, name), quantityOf(requests, name)) <= 0) continue;
    requests[name] = amount;
    changed = true;
  }
  return changed ? { ...allocated, requests } : allocated;
}

/** Stands among the requests of a record while what it is about is changed: other kubelets read it, and ignore it. */
const CHANGING = 'kubelet-ts.io/changing';

/**
 * The record of what is being changed: the largest requests that may be in force, for those who count on the rest of the node, and no
 * limits, so that another kubelet sees that something is left to do.
 */
export function markChanging(last: ResourceRequirements | undefined, next: ResourceRequirements): ResourceRequirements {
  const { requests } = largerRequests(next, last) ?? {};
  return { requests: { ...requests, [CHANGING]: '1' } };
}

/** What is known to be in force. */
export function settledPart({ containers, pod }: Allocation): Allocation {
  const isSettled = (resources: ResourceRequirements | undefined) => resources?.requests?.[CHANGING] === undefined;
  const all = Object.entries(containers);
  if (isSettled(pod) && all.every(([, resources]) => isSettled(resources))) return { containers, pod };
  const settled = all.filter(([, resources]) => isSettled(resources));
  return { containers: Object.fromEntries(settled), pod: isSettled(pod) ? pod : undefined };
}
