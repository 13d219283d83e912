/** The text of `memory_manager_state`, in the reference's form: either kubelet goes on with what the other has assigned. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { fnv32a } from '../../base/fnv.ts';
import { jsonMap, printedMap } from './go-map.ts';
import type { MemoryBlock, MemoryTable, NodeMemory } from './memory-nodes.ts';
import type { MemoryState } from './memory-static.ts';
import { fieldsOf, numberOf, numbersIn, parseJson, textOf } from './state-json.ts';

export interface MemoryRecord {
  readonly policy: string;
  readonly state: MemoryState;
}

export function encodeMemoryState({ policy, state }: MemoryRecord, withPods: boolean): string {
  const nodes = [...state.nodes].map(([id, node]) => [String(id), nodeJson(node)] as const);
  const containers = [...state.containers].map(([uid, own]) => {
    const blocks = [...own].map(([name, all]) => [name, JSON.stringify(all.map(blockJson))] as const);
    return [uid, jsonMap(blocks)] as const;
  });
  const pods = [...state.pods].map(
    ([uid, all]) => [uid, JSON.stringify({ memoryBlocks: all.map(blockJson) })] as const,
  );
  const parts = [
    `"policyName":${JSON.stringify(policy)}`,
    `"machineState":${jsonMap(nodes)}`,
    ...(containers.length === 0 ? [] : [`"entries":${jsonMap(containers)}`]),
    ...(withPods && pods.length > 0 ? [`"podEntries":${jsonMap(pods)}`] : []),
    `"checksum":${checksumOf({ policy, state }, withPods)}`,
  ];
  return `{${parts.join(',')}}`;
}

function nodeJson({ assignments, tables, cells }: NodeMemory): string {
  const memory = [...tables].map(([type, { total, systemReserved, allocatable, reserved, free }]) => {
    return [type, JSON.stringify({ total, systemReserved, allocatable, reserved, free })] as const;
  });
  return `{"numberOfAssignments":${assignments},"memoryMap":${jsonMap(memory)},"cells":${JSON.stringify(cells)}}`;
}

const blockJson = ({ nodes, type, bytes }: MemoryBlock) => ({ numaAffinity: nodes, type, size: bytes });

function checksumOf({ policy, state }: MemoryRecord, withPods: boolean): number {
  // The printer sorts numbers by value.
  const nodes = [...state.nodes]
    .toSorted(([a], [b]) => a - b)
    .map(([id, node]) => `${id}:<*>${printedNode(node)}`)
    .join(' ');
  const containers = [...state.containers].map(
    ([uid, own]) => [uid, printedMap([...own].map(([name, all]) => [name, printedBlocks(all)]))] as const,
  );
  const pods = [...state.pods].map(
    ([uid, all]) => [uid, `{MemoryBlocks:([]state.Block)${printedBlocks(all)}}`] as const,
  );
  const parts = [
    `PolicyName:(string)${policy}`,
    `MachineState:(state.NUMANodeMap)map[${nodes}]`,
    `Entries:(state.ContainerMemoryAssignments)${printedMap(containers)}`,
    ...(withPods ? [`PodEntries:(state.PodMemoryAssignments)${printedMap(pods)}`] : []),
    'Checksum:(checksum.Checksum)0',
  ];
  return fnv32a(`(*state.MemoryManagerCheckpoint){${parts.join(' ')}}`);
}

function printedNode({ assignments, tables, cells }: NodeMemory): string {
  const memory = [...tables].map(([type, table]) => [type, `<*>${printedTable(table)}`] as const);
  return `{NumberOfAssignments:(int)${assignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${printedMap(memory)} Cells:([]int)[${cells.join(' ')}]}`;
}

function printedTable({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string {
  const parts = [
    `TotalMemSize:(uint64)${total}`,
    `SystemReserved:(uint64)${systemReserved}`,
    `Allocatable:(uint64)${allocatable}`,
    `Reserved:(uint64)${reserved}`,
    `Free:(uint64)${free}`,
  ];
  return `{${parts.join(' ')}}`;
}

function printedBlocks(blocks: readonly MemoryBlock[]): string {
  const all = blocks.map(
    ({ nodes, type, bytes }) =>
      `{NUMAAffinity:([]int)[${nodes.join(' ')}] Type:(v1.ResourceName)${type} Size:(uint64)${bytes}}`,
  );
  return `[${all.join(' ')}]`;
}

export function decodeMemoryState(text: string): Parsed<MemoryRecord> {
  const json = parseJson(text);
  if (!json.ok) return json;
  const { policyName, machineState, entries, podEntries, checksum } = fieldsOf(json.value);
  const nodes = new Map(Object.entries(fieldsOf(machineState)).map(([id, node]) => [Number(id), nodeIn(node)]));
  const containers = Object.entries(fieldsOf(entries)).map(([uid, own]) => {
    const blocks = Object.entries(fieldsOf(own)).map(([name, all]) => [name, blocksIn(all)] as const);
    return [uid, new Map(blocks)] as const;
  });
  const pods = Object.entries(fieldsOf(podEntries)).map(
    ([uid, entry]) => [uid, blocksIn(fieldsOf(entry)['memoryBlocks'])] as const,
  );
  const state = { nodes, containers: new Map(containers), pods: new Map(pods) };
  const record = { policy: textOf(policyName), state };
  const valid = [0, checksumOf(record, false), checksumOf(record, true)];
  return valid.includes(Number(checksum)) ? parsed(record) : unparsable('checkpoint is corrupted');
}

function nodeIn(value: unknown): NodeMemory {
  const { numberOfAssignments, memoryMap, cells } = fieldsOf(value);
  const tables = Object.entries(fieldsOf(memoryMap)).map(([type, table]) => {
    const { total, systemReserved, allocatable, reserved, free } = fieldsOf(table);
    const numbers = {
      total: numberOf(total),
      systemReserved: numberOf(systemReserved),
      allocatable: numberOf(allocatable),
      reserved: numberOf(reserved),
      free: numberOf(free),
    };
    return [type, numbers] as const;
  });
  return { assignments: numberOf(numberOfAssignments), cells: numbersIn(cells), tables: new Map(tables) };
}

function blocksIn(value: unknown): readonly MemoryBlock[] {
  if (!Array.isArray(value)) return [];
  return value.map((block) => {
    const { numaAffinity, type, size } = fieldsOf(block);
    return { nodes: numbersIn(numaAffinity), type: textOf(type), bytes: numberOf(size) };
  });
}
