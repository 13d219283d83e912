/** Which conditions of a pod are the kubelet's to say. All others belong to whoever set them. */
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
