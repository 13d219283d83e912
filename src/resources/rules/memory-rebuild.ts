/** The memory of the machine as it must be with what its containers have. */
import { type MemoryBlock, type NodeMemories, takeMemory } from './memory-nodes.ts';
import type { MemoryState } from './memory-static.ts';

/**
 * What containers have stays, counted against the memory that the machine has now: its size, or what of it is reserved, may have changed since. Blocks on
 * nodes or of huge pages that do not exist any more are dropped.
 */
export function rebuildMemory(unused: NodeMemories, { containers, pods }: MemoryState): MemoryState {
  const exists = ({ nodes, type }: MemoryBlock): boolean =>
    nodes.length > 0 && nodes.every((id) => unused.get(id)?.tables.has(type) === true);
  let nodes = unused;
  const kept = new Map<string, ReadonlyMap<string, readonly MemoryBlock[]>>();
  const keptPods = new Map([...pods].filter(([, blocks]) => blocks.every(exists)));
  for (const blocks of keptPods.values()) nodes = blocks.reduce(takeMemory, nodes);
  for (const [uid, own] of containers) {
    const whole = [...own].filter(([, blocks]) => blocks.every(exists));
    if (whole.length > 0) kept.set(uid, new Map(whole));
    if (!keptPods.has(uid)) for (const [, blocks] of whole) nodes = blocks.reduce(takeMemory, nodes);
  }
  return { nodes, containers: kept, pods: keptPods };
}

/** Which node of a group gave how much does not matter, as long as the group gave the same. */
export function sameMemory(left: NodeMemories, right: NodeMemories): boolean {
  if (left.size !== right.size) return false;
  const summary = (nodes: NodeMemories, id: number): string => {
    const { assignments = 0, cells = [], tables = new Map() } = nodes.get(id) ?? {};
    const own = [...tables]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, { total, systemReserved, allocatable }]) => {
        const sum = (of: 'free' | 'reserved') =>
          cells.reduce((all, cell) => all + (nodes.get(cell)?.tables.get(type)?.[of] ?? 0), 0);
        return [type, total, systemReserved, allocatable, sum('free'), sum('reserved')];
      });
    return JSON.stringify([assignments, cells.toSorted((a, b) => a - b), own]);
  };
  return [...left.keys()].every((id) => summary(left, id) === summary(right, id));
}
