/** Which conditions of a pod the kubelet owns. All others belong to the component that set them. */
import type { PodCondition } from './pod-status.ts';

const OWN = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'AllContainersRestarting',
  'PodResizePending',
  'PodResizeInProgress',
]);

export function isOwnCondition({ type }: Pick<PodCondition, 'type'>): boolean {
  return OWN.has(type);
}
