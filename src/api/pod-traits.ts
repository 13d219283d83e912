/** Questions about a pod that several parts ask. */
import type { Container } from './container.ts';
import type { Pod } from './pod.ts';

export const CONFIG_SOURCE = 'kubernetes.io/config.source';
export const CONFIG_SEEN = 'kubernetes.io/config.seen';
export const CONFIG_HASH = 'kubernetes.io/config.hash';
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';

/** Pods of this priority and above are critical to the cluster. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Every container, init containers first, ephemeral ones last. */
export function allContainers(pod: Pod): readonly Container[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** The resource claims of a pod, and the one that was made for its extended resources. */
export function resourceClaimNames({ spec, status }: Pod): readonly string[] {
  const extended = status?.extendedResourceClaimStatus?.['resourceClaimName'];
  return [
    ...(spec.resourceClaims ?? []).map(({ name }) => String(name)),
    ...(extended === undefined ? [] : [String(extended)]),
  ];
}

/** An init container that keeps running beside the regular ones. */
export function isSidecar(pod: Pod, container: Container): boolean {
  return (
    container.restartPolicy === 'Always' && (pod.spec.initContainers ?? []).some((init) => init.name === container.name)
  );
}

/** It comes from a file or a URL on this node, not from the API server. */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata.annotations?.[CONFIG_SOURCE];
  return source !== undefined && source !== 'api';
}

/** It stands in the API server for a static pod. */
export function isMirrorPod(pod: Pick<Pod, 'metadata'>): boolean {
  return pod.metadata.annotations?.[CONFIG_MIRROR] !== undefined;
}

/** Somebody asked the API server to delete it, and it waits for the kubelet. No one can ask that of a static pod. */
export function isBeingDeleted(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isStaticPod(pod);
}

/** It has ended for good, by its published status. */
export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

export function isCriticalPod(pod: Pod): boolean {
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

export function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec.priorityClassName === 'system-node-critical';
}

/** A pod as messages name it: `name_namespace(uid)`. */
export function podTitle(pod: Pod): string {
  return `${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
}
