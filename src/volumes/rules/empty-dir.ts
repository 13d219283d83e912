/** On which medium an emptyDir is and how large it may be. */

import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { hasPodLevelResources } from '../../api/pod-resources.ts';
import { formatQuantity, parseQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';

export type EmptyDirPlace =
  | { readonly kind: 'disk' }
  | { readonly kind: 'memory'; readonly sizeBytes: number }
  | { readonly kind: 'huge-pages'; readonly pageSize: string };

export interface EmptyDirNode {
  readonly allocatableMemory: bigint;
  /** Of the pod's cgroup; undefined where it has none. */
  readonly podMemoryLimit: bigint | undefined;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
}

const HUGE_PAGES = 'HugePages';
const HUGE_PAGES_RESOURCE = 'hugepages-';

export function emptyDirPlace(
  pod: Pod,
  source: { readonly medium?: string; readonly sizeLimit?: string },
  node: EmptyDirNode,
): Parsed<EmptyDirPlace> {
  const medium = source.medium ?? '';
  if (medium === '') return parsed({ kind: 'disk' });
  if (medium === 'Memory') return parsed({ kind: 'memory', sizeBytes: Number(memorySize(source.sizeLimit, node)) });
  if (medium !== HUGE_PAGES && !medium.startsWith(`${HUGE_PAGES}-`)) {
    return unparsable(`unknown storage medium ${JSON.stringify(medium)}`);
  }
  const pageSize = hugePageSize(pod, medium, node.podLevel);
  return pageSize.ok ? parsed({ kind: 'huge-pages', pageSize: formatQuantity(pageSize.value) }) : pageSize;
}

/** The smallest of what all pods together, this pod, and this volume may have; a limit of zero is none. */
function memorySize(sizeLimit: string | undefined, node: EmptyDirNode): bigint {
  const limits = [node.podMemoryLimit, sizeLimit === undefined ? undefined : bytesOf(sizeLimit)];
  return limits.reduce<bigint>(
    (size, limit) => (limit !== undefined && limit > 0n && limit <= size ? limit : size),
    node.allocatableMemory,
  );
}

export function bytesOf(text: string): bigint | undefined {
  const quantity = parseQuantity(text);
  return quantity.ok ? quantityValue(quantity.value) : undefined;
}

/** The page size that the medium names; without one, that of the pod's requests, which then must all be of one size. */
function hugePageSize(pod: Pod, medium: string, podLevel: boolean): Parsed<Quantity> {
  const named = medium === HUGE_PAGES ? undefined : parseQuantity(medium.slice(HUGE_PAGES.length + 1));
  if (named !== undefined && !named.ok) return named;
  const { containers, initContainers = [], resources } = pod.spec;
  const own = podLevel && hasPodLevelResources(pod) ? [resources?.requests] : [];
  const requests = [...own, ...[...containers, ...initContainers].map((container) => container.resources?.requests)];
  const sizes = new Map<bigint, Quantity>();
  for (const name of requests.flatMap((list) => Object.keys(list ?? {}))) {
    if (!name.startsWith(HUGE_PAGES_RESOURCE)) continue;
    const size = parseQuantity(name.slice(HUGE_PAGES_RESOURCE.length));
    if (!size.ok) return size;
    sizes.set(quantityValue(size.value), size.value);
  }
  if (named === undefined && sizes.size > 1) {
    return unparsable(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  }
  const found = named === undefined ? [...sizes.values()][0] : sizes.get(quantityValue(named.value));
  if (found !== undefined) return parsed(found);
  return unparsable(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
}
