/** How many CPUs of its own a container or pod requests: only guaranteed pods get any, and only whole ones. */
import type { Container } from '../../api/container.ts';
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { hasPodLevelResources, quantityOf } from '../../api/pod-resources.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { compareQuantities, quantityMilliValue } from '../../api/quantity.ts';

export interface ManagerGates {
  readonly podLevel: boolean;
  /** The gate PodLevelResourceManagers, which needs PodLevelResources: pods with resources of their own get CPUs and memory too. */
  readonly podLevelManagers: boolean;
}

export const isGuaranteed = (pod: Pod, { podLevel }: ManagerGates): boolean =>
  qosClassOf(pod, { podLevel }) === 'Guaranteed';

/** The managers have nothing to do with a pod that has resources of its own, unless the gate is on. */
export const isManaged = (pod: Pod, gates: ManagerGates): boolean =>
  isGuaranteed(pod, gates) && (gates.podLevelManagers || !hasPodLevelResources(pod));

/** The pod as a whole gets its share, which its containers divide. */
export const isPodManaged = (pod: Pod, { podLevelManagers }: ManagerGates): boolean =>
  podLevelManagers && hasPodLevelResources(pod);

/** Its limits are its requests: in a pod with resources of its own only such a container gets a part for itself. */
export function isGuaranteedContainer({ resources }: Container): boolean {
  return ['cpu', 'memory'].every((name) => {
    const request = quantityOf(resources?.requests, name);
    return request.nanos !== 0n && compareQuantities(request, quantityOf(resources?.limits, name)) === 0;
  });
}

export function exclusiveCpus(pod: Pod, container: Container, gates: ManagerGates): number {
  if (!isGuaranteed(pod, gates)) return 0;
  if (isPodManaged(pod, gates) && !isGuaranteedContainer(container)) return 0;
  return wholeCpus(container.resources?.requests);
}

function wholeCpus(list: ResourceList | undefined): number {
  const milli = quantityMilliValue(quantityOf(list, 'cpu'));
  return milli % 1000n === 0n ? Number(milli / 1000n) : 0;
}

/** What all of its containers need at the same time at most. */
export function exclusiveCpusOfPod(pod: Pod, gates: ManagerGates): number {
  if (isPodManaged(pod, gates)) return isGuaranteed(pod, gates) ? wholeCpus(pod.spec.resources?.requests) : 0;
  let sidecars = 0;
  let neediest = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const own = exclusiveCpus(pod, container, gates);
    if (container.restartPolicy === 'Always') sidecars += own;
    else neediest = Math.max(neediest, sidecars + own);
  }
  const regular = pod.spec.containers.reduce((sum, container) => sum + exclusiveCpus(pod, container, gates), 0);
  return Math.max(neediest, sidecars + regular);
}

interface Pool {
  readonly total: bigint;
  /** Whether the container has no part of its own. */
  readonly shares: (container: Container) => boolean;
  /** What it has for itself. */
  readonly own: (container: Container) => bigint;
  /** As the messages name it: once what an init container lacks, once what is requested, once what is left. */
  readonly names: readonly [string, string, string];
}

/** Why containers without a part of their own would have nothing to run on: those with one take all that the pod has. */
export function emptyPool(pod: Pod, { total, shares, own, names }: Pool): string | undefined {
  const [lacking, requested, left] = names;
  let taken = 0n;
  let anyShares = false;
  for (const container of pod.spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always';
    if (!isSidecar && shares(container) && taken >= total)
      return `pod rejected, pod has shared init containers but no ${lacking} available for them`;
    if (isSidecar) {
      anyShares ||= shares(container);
      taken += own(container);
    }
  }
  for (const container of pod.spec.containers) {
    anyShares ||= shares(container);
    taken += own(container);
  }
  if (!anyShares || taken < total) return undefined;
  return `pod rejected, sum of exclusive container ${requested} requests equals pod budget, leaving no ${left} for shared containers`;
}
