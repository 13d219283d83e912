import type { Container } from '../../api/container.ts';
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { hasPodLevelResources, quantityOf } from '../../api/pod-resources.ts';
import { parseQuantity, quantityValue } from '../../api/quantity.ts';

const PREFIX = 'hugepages-';
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

export interface HugePageOptions {
  /** Sizes that the kernel has, as cgroup files name them. */
  readonly sizes: readonly string[];
  readonly podLevel: boolean;
}

/** One limit for each size that the kernel has; 0, none at all, for those that no one asked for. */
export function hugePageLimits(
  pod: Pod,
  container: Container,
  { sizes, podLevel }: HugePageOptions,
): readonly { readonly pageSize: string; readonly limit: number }[] {
  const asked = new Map<string, number>();
  if (podLevel && hasPodLevelResources(pod)) collect(pod.spec.resources?.limits, asked);
  collect(container.resources?.limits, asked);
  return sizes.map((pageSize) => ({ pageSize, limit: asked.get(pageSize) ?? 0 }));
}

function collect(limits: ResourceList | undefined, asked: Map<string, number>): void {
  for (const name of Object.keys(limits ?? {})) {
    if (!name.startsWith(PREFIX)) continue;
    const size = hugePageSizeName(name.slice(PREFIX.length));
    if (size !== undefined) asked.set(size, Number(quantityValue(quantityOf(limits, name))));
  }
}

/** `2Mi` as cgroup files name it: `2MB`. Undefined for a size that no kernel has. */
export function hugePageSizeName(size: string): string | undefined {
  const quantity = parseQuantity(size);
  if (!quantity.ok) return undefined;
  let count = quantityValue(quantity.value);
  if (count <= 0n) return undefined;
  let unit = 0;
  while (count % 1024n === 0n && unit < UNITS.length - 1) {
    count /= 1024n;
    unit += 1;
  }
  return count > 1024n && unit < UNITS.length - 1 ? undefined : `${count}${UNITS[unit]}`;
}
