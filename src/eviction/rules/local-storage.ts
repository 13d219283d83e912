/** Limits of single pods on the node's disk: a pod above one is evicted whether the node is short or not. */
import type { Pod } from '../../api/pod.ts';
import { podLimits } from '../../api/pod-resources.ts';
import { formatQuantity, parseQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';
import type { ImageDisk, PodUsage } from '../../model/usage.ts';

export interface StorageExcess {
  /** For the metric, as the reference names it. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

/** Whether the sizes of this pod must be read at all. */
export function hasStorageLimits(pod: Pod): boolean {
  return (
    (pod.spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    pod.spec.containers.some(({ resources }) => resources?.limits?.['ephemeral-storage'] !== undefined) ||
    pod.spec.resources?.limits?.['ephemeral-storage'] !== undefined
  );
}

export function storageExcess(pod: Pod, usage: PodUsage, imageDisk: ImageDisk): StorageExcess | undefined {
  return emptyDirExcess(pod, usage) ?? podExcess(pod, usage) ?? containerExcess(pod, usage, imageDisk);
}

const isAbove = (used: number, limit: Quantity): boolean => BigInt(Math.trunc(used)) > quantityValue(limit);

function emptyDirExcess({ spec }: Pod, { volumes }: PodUsage): StorageExcess | undefined {
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = quantity(emptyDir?.sizeLimit);
    const used = volumes.get(name)?.bytes;
    if (limit === undefined || limit.nanos <= 0n || used === undefined || !isAbove(used, limit)) continue;
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(formatQuantity(limit))}. `;
    return { signal: 'emptydirfs.limit', message };
  }
  return undefined;
}

function podExcess(pod: Pod, { ephemeralBytes = 0 }: PodUsage): StorageExcess | undefined {
  const limit = podLimits(pod, { podLevel: false, overhead: true }).get('ephemeral-storage');
  if (limit === undefined || !isAbove(ephemeralBytes, limit)) return undefined;
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `;
  return { signal: 'ephemeralpodfs.limit', message };
}

function containerExcess(
  { spec }: Pod,
  { containers }: PodUsage,
  { isSeparate }: ImageDisk,
): StorageExcess | undefined {
  for (const { name, logs, rootfs } of containers) {
    const limit = quantity(
      spec.containers.find((each) => each.name === name)?.resources?.limits?.['ephemeral-storage'],
    );
    const used = (logs?.bytes ?? 0) + (isSeparate ? 0 : (rootfs?.bytes ?? 0));
    if (limit === undefined || limit.nanos === 0n || !isAbove(used, limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(formatQuantity(limit))}. `;
    return { signal: 'ephemeralcontainerfs.limit', message };
  }
  return undefined;
}

function quantity(text: string | undefined): Quantity | undefined {
  const parsed = text === undefined ? undefined : parseQuantity(text);
  return parsed?.ok === true ? parsed.value : undefined;
}
