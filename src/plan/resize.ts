/**
 * Resizing a pod in place: which of its running containers get other limits, which must restart for them, and when the cgroup of the pod
 * itself must change.
 */
import type { Container, ResourceRequirements } from '../api/container.ts';
import { quantityOf } from '../api/pod-resources.ts';
import { quantityMilliValue, quantityValue } from '../api/quantity.ts';
import { type Allocation, resourcesOf } from '../model/allocation.ts';
import { type ObservedContainer, presentContainer } from '../model/observation.ts';
import type { Draft } from './draft.ts';
import { stopAndStart } from './health.ts';
import { roleOf } from './roles.ts';
import type { Snapshot } from './snapshot.ts';

/** What a kubelet needs to resize pods in place. */
export interface ResizeInput {
  readonly inForce: Allocation;
  /** The gate InPlacePodLevelResourcesVerticalScaling. */
  readonly podLevel: boolean;
  /** The gate InPlacePodVerticalScalingInitContainers: also init containers that have to end. */
  readonly initContainers: boolean;
}

/** Thousandths of a CPU, and bytes. */
interface Amounts {
  readonly cpuRequest: bigint;
  readonly cpuLimit: bigint;
  readonly memoryRequest: bigint;
  readonly memoryLimit: bigint;
}

/** Gives a running container its new limits, or restarts it where its resize policy says so. */
export function planContainerResize(draft: Draft, container: Container, seen: ObservedContainer): void {
  const { resize, pod } = draft.snapshot;
  if (resize === undefined || !isResizable(draft.snapshot, container) || seen.state !== 'running') return;
  const { name } = container;
  const desired = amountsOf(container.resources, pod.spec.resources, resize);
  const known = resourcesOf(resize.inForce, name);
  const current = known && amountsOf(known, resize.inForce.pod, resize);
  const changed = changedResources(current, desired);
  if (changed.length === 0) return;
  // What is in force is not known after an interrupted resize: no reason to restart, because a restart is never interrupted halfway.
  if (current !== undefined && changed.some((resource) => restartsFor(container, resource))) {
    stopAndStart(draft, container, seen, { message: `Container ${name} resize requires restart`, reason: '' });
    return;
  }
  const shrinks = desired.memoryLimit > 0n && (!current?.memoryLimit || desired.memoryLimit < current.memoryLimit);
  draft.resizeContainer({
    name,
    id: seen.id,
    grows: current === undefined || grows(current, desired),
    ...(shrinks ? { memoryLimit: Number(desired.memoryLimit) } : {}),
  });
}

/** The cgroup of the pod follows also where no running container changes. */
export function planPodResize(draft: Draft, starts: readonly string[]): void {
  const { resize, pod } = draft.snapshot;
  if (resize === undefined) return;
  if (podLevelChanged(draft.snapshot)) draft.resizePod('the resources of the pod have changed');
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  for (const container of containers.filter(({ name }) => starts.includes(name))) {
    const known = resourcesOf(resize.inForce, container.name);
    if (known === undefined) continue;
    const current = amountsOf(known, resize.inForce.pod, resize);
    const desired = amountsOf(container.resources, pod.spec.resources, resize);
    if (changedResources(current, desired).length > 0) draft.resizeForStart(container.name);
  }
}

/** Whether something that runs has other resources than are allocated to it. */
export function isResizing(snapshot: Snapshot): boolean {
  const { pod, resize, observation } = snapshot;
  if (resize === undefined) return false;
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const isOpen = (container: Container): boolean => {
    if (!isResizable(snapshot, container)) return false;
    if (presentContainer(observation, container.name)?.state !== 'running') return false;
    const known = resourcesOf(resize.inForce, container.name);
    const current = known && amountsOf(known, resize.inForce.pod, resize);
    return changedResources(current, amountsOf(container.resources, pod.spec.resources, resize)).length > 0;
  };
  return containers.some(isOpen) || (podLevelChanged(snapshot) && observation.sandboxes.some(({ ready }) => ready));
}

function podLevelChanged({ resize, pod }: Snapshot): boolean {
  if (resize === undefined || !resize.podLevel || pod.spec.resources === undefined) return false;
  const none = { podLevel: false };
  const current = amountsOf(resize.inForce.pod, undefined, none);
  return changedResources(current, amountsOf(pod.spec.resources, undefined, none)).length > 0;
}

function isResizable({ pod, resize }: Snapshot, { name }: Container): boolean {
  return roleOf(pod, name).role !== 'init' || resize?.initContainers === true;
}

function restartsFor({ resizePolicy = [] }: Container, resource: string): boolean {
  const policy = resizePolicy.find(({ resourceName }) => resourceName === resource);
  return policy?.restartPolicy === 'RestartContainer';
}

/** A container without a limit of its own is held to that of its pod. */
function amountsOf(
  own: ResourceRequirements | undefined,
  pod: ResourceRequirements | undefined,
  { podLevel }: { readonly podLevel: boolean },
): Amounts {
  const limit = (name: string) => {
    const quantity = quantityOf(own?.limits, name);
    return quantity.nanos === 0n && podLevel ? quantityOf(pod?.limits, name) : quantity;
  };
  return {
    cpuRequest: quantityMilliValue(quantityOf(own?.requests, 'cpu')),
    cpuLimit: quantityMilliValue(limit('cpu')),
    memoryRequest: quantityValue(quantityOf(own?.requests, 'memory')),
    memoryLimit: quantityValue(limit('memory')),
  };
}

function changedResources(current: Amounts | undefined, desired: Amounts): readonly ('cpu' | 'memory')[] {
  if (current === undefined) return ['cpu', 'memory'];
  const cpu = current.cpuRequest !== desired.cpuRequest || current.cpuLimit !== desired.cpuLimit;
  const memory = current.memoryRequest !== desired.memoryRequest || current.memoryLimit !== desired.memoryLimit;
  return [...(cpu ? (['cpu'] as const) : []), ...(memory ? (['memory'] as const) : [])];
}

const UNLIMITED = 2n ** 63n;

function grows(current: Amounts, desired: Amounts): boolean {
  const limit = (amount: bigint) => (amount === 0n ? UNLIMITED : amount);
  return (
    limit(desired.cpuLimit) > limit(current.cpuLimit) ||
    limit(desired.memoryLimit) > limit(current.memoryLimit) ||
    desired.cpuRequest > current.cpuRequest
  );
}
