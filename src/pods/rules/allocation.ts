/**
 * The resources that were allocated to a pod when it was admitted. Its cgroups and containers are created with them, others are admitted
 * beside them, and its status reports them, for as long as the pod lives. A later change of its spec is a request to resize the pod,
 * which this kubelet does not carry out yet.
 */
import type { Container, ResourceRequirements } from '../../api/container.ts';
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import { compareQuantities } from '../../api/quantity.ts';
import { escapeJson } from '../../base/go-text.ts';
import { sameJson } from '../../base/same-json.ts';

export interface Allocation {
  /** Of init and regular containers, by name. */
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
  /** Of the pod as a whole; undefined where it has none. */
  readonly pod: ResourceRequirements | undefined;
}

export interface AllocationOptions {
  /** The gate InPlacePodLevelResourcesVerticalScaling: the pod's own resources are part of an allocation. */
  readonly podLevel: boolean;
}

export function allocationOf({ spec }: Pod, { podLevel }: AllocationOptions): Allocation {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const containers = Object.fromEntries(all.map(({ name, resources }) => [name, resources ?? {}]));
  return { containers, pod: podLevel ? spec.resources : undefined };
}

/** The pod with its allocated resources; the same object where its spec requests exactly these. */
export function withAllocation(pod: Pod, allocation: Allocation, { podLevel }: AllocationOptions): Pod {
  const { initContainers, containers, resources, ...spec } = pod.spec;
  const withOwn = (container: Container): Container => {
    const allocated = Object.hasOwn(allocation.containers, container.name)
      ? allocation.containers[container.name]
      : undefined;
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
function sameResources(left: ResourceRequirements = {}, right: ResourceRequirements = {}): boolean {
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

export const RESIZE_REFUSED =
  'In-place resize is not supported by this kubelet yet: the pod keeps the resources that it was admitted with';

/** The message of the event: the requested resources, in the form that tools parse. */
export function resizeRefusedMessage({ metadata, spec }: Pod): string {
  const summary = (containers: readonly Container[] = []) =>
    containers.length === 0 ? undefined : containers.map(({ name, resources = {} }) => ({ name, resources }));
  const request = {
    initContainers: summary(spec.initContainers),
    containers: summary(spec.containers),
    generation: metadata.generation ?? 0,
    error: RESIZE_REFUSED,
  };
  return `Pod resize Infeasible: ${escapeJson(JSON.stringify(request))}`;
}

/** Whether an earlier kubelet has reported already that this request is refused. */
export function wasRefused({ metadata, status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason, observedGeneration }) =>
      type === 'PodResizePending' && reason === 'Infeasible' && observedGeneration === metadata.generation,
  );
}
