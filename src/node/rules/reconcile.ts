/** What an existing node object must adopt from the one that would be registered now. */
import type { StringMap } from '../../api/meta.ts';
import { isExtendedResource, isHugePageResource, type KubeNode, type NodeStatus } from '../../api/node.ts';
import { ATTACH_ANNOTATION } from './initial-node.ts';

/** Labels that follow the machine; all others belong to those who set them. */
const FOLLOWING_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

export interface ReconcileOptions {
  /** The devices of extended resources are unknown now: their amount is 0 until their plugin reports them again. */
  readonly resetExtended: boolean;
}

export function reconcileNode(existing: KubeNode, initial: KubeNode, { resetExtended }: ReconcileOptions): KubeNode {
  const { metadata } = existing;
  const annotation = initial.metadata.annotations?.[ATTACH_ANNOTATION];
  const { [ATTACH_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  return {
    ...existing,
    metadata: {
      ...metadata,
      labels: reconcileLabels(metadata.labels ?? {}, initial.metadata.labels ?? {}),
      annotations: annotation === undefined ? annotations : { ...annotations, [ATTACH_ANNOTATION]: annotation },
    },
    status: reconcileResources(existing.status ?? {}, initial.status ?? {}, resetExtended),
  };
}

function reconcileLabels(existing: StringMap, initial: StringMap): StringMap {
  const following = FOLLOWING_LABELS.filter((key) => Object.hasOwn(initial, key)).map((key) => [key, initial[key]]);
  const merged: [string, string][] = Object.entries({ ...existing, ...Object.fromEntries(following) });
  return Object.fromEntries(merged.filter(([key, value]) => value !== '' || !FOLLOWING_LABELS.includes(key)));
}

function reconcileResources(existing: NodeStatus, initial: NodeStatus, resetExtended: boolean): NodeStatus {
  const reconcile = (field: 'capacity' | 'allocatable') => {
    const now = initial[field] ?? {};
    const before = existing[field] ?? now;
    const kept = Object.entries(before)
      .filter(([name]) => !isHugePageResource(name) || Object.hasOwn(now, name))
      .map(([name, text]) => [name, resetExtended && isExtendedResource(name) ? '0' : text]);
    const huge = Object.entries(now).filter(([name]) => isHugePageResource(name));
    return Object.fromEntries([...kept, ...huge]);
  };
  return { ...existing, capacity: reconcile('capacity'), allocatable: reconcile('allocatable') };
}
