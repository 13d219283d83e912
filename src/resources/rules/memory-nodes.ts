/** The memory of the machine by NUMA node, and what of it is given to containers. Nothing is changed in place. */
import type { Machine } from '../../model/machine.ts';
import { hugePageResource } from './allocatable.ts';

export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}

export interface NodeMemory {
  /** One for each resource of each container. */
  readonly assignments: number;
  /** The nodes that memory is given from together with this one; only itself, where that never happened. */
  readonly cells: readonly number[];
  readonly tables: ReadonlyMap<string, MemoryTable>;
}

export type NodeMemories = ReadonlyMap<number, NodeMemory>;

export interface MemoryBlock {
  readonly nodes: readonly number[];
  /** `memory` or `hugepages-2Mi`. */
  readonly type: string;
  readonly bytes: number;
}

/** Bytes by id of the node and resource. */
export type ReservedMemory = ReadonlyMap<number, ReadonlyMap<string, number>>;

export function unusedMemory({ memoryNodes }: Pick<Machine, 'memoryNodes'>, reserved: ReservedMemory): NodeMemories {
  return new Map(
    memoryNodes.map(({ id, memoryBytes, hugePages }) => {
      const of = (name: string) => reserved.get(id)?.get(name) ?? 0;
      const pools = hugePages.map(({ pageBytes, pages }) => {
        const name = hugePageResource(BigInt(pageBytes));
        return [name, tableOf(pageBytes * pages, pageBytes * pages, of(name))] as const;
      });
      const inPages = pools.reduce((sum, [, { total }]) => sum + total, 0);
      const memory = tableOf(memoryBytes, memoryBytes - inPages, of('memory'));
      return [id, { assignments: 0, cells: [id], tables: new Map([...pools, ['memory', memory]]) }];
    }),
  );
}

function tableOf(total: number, usable: number, systemReserved: number): MemoryTable {
  const allocatable = usable - systemReserved;
  return { total, systemReserved, allocatable, reserved: 0, free: allocatable };
}

export const freeOn = (nodes: NodeMemories, id: number, type: string): number =>
  nodes.get(id)?.tables.get(type)?.free ?? 0;

export const allocatableOn = (nodes: NodeMemories, id: number, type: string): number =>
  nodes.get(id)?.tables.get(type)?.allocatable ?? 0;

/** Gives so many bytes from these nodes, the first one first. Each of them has one assignment more, also where it gives nothing. */
export function takeMemory(nodes: NodeMemories, { nodes: ids, type, bytes }: MemoryBlock): NodeMemories {
  const next = new Map(nodes);
  let missing = bytes;
  for (const id of ids) {
    const node = next.get(id);
    if (node === undefined) continue;
    const given = Math.min(missing, Math.max(0, freeOn(next, id, type)));
    missing -= given;
    next.set(id, move({ ...node, assignments: node.assignments + 1, cells: ids }, type, given));
  }
  return next;
}

export function giveBackMemory(nodes: NodeMemories, blocks: readonly MemoryBlock[]): NodeMemories {
  const next = new Map(nodes);
  for (const { nodes: ids, type, bytes } of blocks) {
    let left = bytes;
    for (const id of ids) {
      const node = next.get(id);
      if (node === undefined) continue;
      const assignments = node.assignments - 1;
      const back = Math.min(left, node.tables.get(type)?.reserved ?? 0);
      left -= back;
      next.set(id, move({ ...node, assignments, cells: assignments === 0 ? [id] : node.cells }, type, -back));
    }
  }
  return next;
}

function move(node: NodeMemory, type: string, bytes: number): NodeMemory {
  const table = node.tables.get(type);
  if (table === undefined || bytes === 0) return node;
  const moved = { ...table, reserved: table.reserved + bytes, free: table.free - bytes };
  return { ...node, tables: new Map([...node.tables, [type, moved]]) };
}

/**
 * A node gives memory either alone, or always together with the same other nodes: else no one could say what is left. Whether memory may be given
 * from exactly these nodes together.
 */
export function mayGroup(nodes: NodeMemories, ids: readonly number[]): boolean {
  if (ids.length === 1) return true;
  return ids.every((id) => {
    const { assignments = 0, cells = [] } = nodes.get(id) ?? {};
    return assignments === 0 || (cells.length === ids.length && ids.every((one) => cells.includes(one)));
  });
}
