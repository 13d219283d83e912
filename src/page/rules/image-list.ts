/** The images of the node, and what keeps each of them. */
import type { Pod } from '../../api/pod.ts';
import { allContainers } from '../../api/pod-traits.ts';

export interface NodeImage {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  readonly pinned: boolean;
}

export interface ShownImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly bytes: number;
  /** The runtime never removes it. */
  readonly pinned: boolean;
  /** `namespace/name` */
  readonly usedBy: readonly string[];
}

/** The largest first. */
export function imageList(images: readonly NodeImage[], pods: readonly Pod[]): readonly ShownImage[] {
  return images
    .map(({ id, repoTags, repoDigests, size, pinned }) => ({
      id,
      names: repoTags.length > 0 ? repoTags : repoDigests,
      bytes: size,
      pinned,
      usedBy: pods.filter((pod) => uses(pod, id, new Set([...repoTags, ...repoDigests]))).map(nameOf),
    }))
    .toSorted((one, other) => other.bytes - one.bytes);
}

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

function uses(pod: Pod, id: string, names: ReadonlySet<string>): boolean {
  const { status } = pod;
  const statuses = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  const isRunning = statuses.some(({ imageID }) => imageID === id || names.has(imageID));
  const isNamed = allContainers(pod).some(({ image }) => image !== undefined && names.has(image));
  const isMounted = (pod.spec.volumes ?? []).some(({ image }) => names.has(image?.reference ?? ''));
  return isRunning || isNamed || isMounted;
}
