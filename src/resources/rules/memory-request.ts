/** How much memory and how many huge pages a container or pod requests, in bytes by resource. Only guaranteed pods get particular memory. */
import type { Container } from '../../api/container.ts';
import type { ResourceList } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import { quantityValue } from '../../api/quantity.ts';
import { emptyPool, isGuaranteedContainer, isPodManaged, type ManagerGates } from './exclusive-cpus.ts';

export type MemoryAmounts = ReadonlyMap<string, number>;

export function containerMemory(pod: Pod, container: Container, gates: ManagerGates): MemoryAmounts {
  if (isPodManaged(pod, gates) && !isGuaranteedContainer(container)) return new Map();
  return amountsIn(container.resources?.requests);
}

const isMemory = (name: string): boolean => name === 'memory' || name.startsWith('hugepages-');

/** Sorted by name, so that the same pod always has the same record. */
function amountsIn(list: ResourceList | undefined): MemoryAmounts {
  const names = Object.keys(list ?? {})
    .filter(isMemory)
    .toSorted();
  return new Map(names.map((name) => [name, Number(quantityValue(quantityOf(list, name)))]));
}

export function podMemory(pod: Pod, gates: ManagerGates): MemoryAmounts {
  if (isPodManaged(pod, gates)) {
    const own = amountsIn(pod.spec.resources?.requests);
    return new Map([...own].filter(([, bytes]) => bytes > 0));
  }
  const sidecars = new Map<string, number>();
  const neediest = new Map<string, number>();
  for (const container of pod.spec.initContainers ?? []) {
    for (const [name, bytes] of containerMemory(pod, container, gates)) {
      const before = sidecars.get(name) ?? 0;
      if (container.restartPolicy === 'Always') sidecars.set(name, before + bytes);
      else neediest.set(name, Math.max(neediest.get(name) ?? 0, before + bytes));
    }
  }
  const total = new Map<string, number>();
  for (const container of pod.spec.containers) {
    for (const [name, bytes] of containerMemory(pod, container, gates)) total.set(name, (total.get(name) ?? 0) + bytes);
  }
  const all = [...total].map(([name, bytes]) => {
    const running = bytes + (sidecars.get(name) ?? 0);
    return [name, Math.max(running, neediest.get(name) ?? 0)] as const;
  });
  return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Why containers without memory of their own would have none at all. */
export function emptyMemoryPool(pod: Pod, gates: ManagerGates): string | undefined {
  for (const [name, total] of podMemory(pod, gates)) {
    const problem = emptyPool(pod, {
      total: BigInt(total),
      shares: (container) => containerMemory(pod, container, gates).size === 0,
      own: (container) => BigInt(containerMemory(pod, container, gates).get(name) ?? 0),
      names: [name, name, 'memory'],
    });
    if (problem !== undefined) return problem;
  }
  return undefined;
}
