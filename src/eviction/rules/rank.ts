/** Which pod goes first when the node is short of something. */

import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { podRequests, type Quantities } from '../../api/pod-resources.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { EvictionSignal, ImageDisk, PodUsage, PodUsages } from '../../model/usage.ts';
import { pressureOf } from './threshold.ts';

export interface RankedPod {
  readonly pod: Pod;
  /** Of what the node is short of; undefined: not known, such a pod goes first, as it does in the reference. */
  readonly usage: number | undefined;
  readonly request: number;
  readonly priority: number;
}

export interface RankInput {
  readonly signal: EvictionSignal;
  readonly pods: readonly Pod[];
  readonly usages: PodUsages;
  readonly imageDisk: ImageDisk;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

/**
 * Pods that use more than they requested before others, then the lower priority, then the larger excess. For process ids there are no
 * requests: the lower priority, then the larger number.
 */
export function rankPods(input: RankInput): readonly RankedPod[] {
  const { signal, pods, usages, imageDisk, podLevel } = input;
  const kind = pressureOf(signal);
  const ranked = pods.map((pod): RankedPod => {
    const usage = usages.get(podUid(pod.metadata.uid));
    const priority = pod.spec.priority ?? 0;
    if (kind === 'pid') return { pod, usage: usage?.processes, request: 0, priority };
    const requests = podRequests(pod, { podLevel, overhead: true });
    if (kind === 'memory') return { pod, usage: usage?.memory, request: unitsOf(requests, 'memory'), priority };
    const isInodes = signal.endsWith('inodesFree');
    const request = isInodes ? 0 : unitsOf(requests, 'ephemeral-storage');
    return { pod, usage: usage && diskUse(usage, signal, imageDisk), request, priority };
  });
  return ranked.toSorted(
    (a, b) => (kind === 'pid' ? 0 : exceeds(b) - exceeds(a)) || a.priority - b.priority || excess(b) - excess(a),
  );
}

const unitsOf = (requests: Quantities, name: string): number => {
  const quantity = requests.get(name);
  return quantity === undefined ? 0 : Number(quantityValue(quantity));
};
const exceeds = ({ usage, request }: RankedPod): number => (usage === undefined || usage > request ? 1 : 0);
const excess = ({ usage, request }: RankedPod): number =>
  usage === undefined ? Number.POSITIVE_INFINITY : usage - request;

/** Whether writable layers, and logs and volumes, lie on the file system of the signal. As in the reference, split layers count as the node's. */
function placesOf(signal: EvictionSignal, { isSeparate, isSplit }: ImageDisk) {
  if (!isSeparate) return { layers: true, others: true };
  if (isSplit) return { layers: !signal.startsWith('imagefs'), others: !signal.startsWith('imagefs') };
  return { layers: !signal.startsWith('nodefs'), others: signal.startsWith('nodefs') };
}

/** What of a pod lies on the file system of the signal. */
function diskUse(usage: PodUsage, signal: EvictionSignal, imageDisk: ImageDisk): number {
  const isInodes = signal.endsWith('inodesFree');
  const { layers, others } = placesOf(signal, imageDisk);
  const parts = [
    ...usage.containers.flatMap(({ rootfs, logs }) => [layers ? rootfs : undefined, others ? logs : undefined]),
    ...(others ? [...usage.volumes.values()].filter(({ isLocal }) => isLocal) : []),
  ];
  return parts.reduce((sum, part) => sum + ((isInodes ? part?.inodes : part?.bytes) ?? 0), 0);
}
