/** The options of the CPU and topology managers, from the texts of the configuration, which was validated. */
import { LARGEST_NUMA_ID } from '../../model/assignment.ts';
import type { MemoryNode } from '../../model/machine.ts';
import type { CpuOptions } from './cpu-static.ts';
import type { CpuTopology } from './cpu-topology.ts';
import type { TopologyPolicy } from './topology-merge.ts';

type Options = Readonly<Record<string, string>>;

/** What Go takes for true. */
const isOn = (options: Options, name: string): boolean =>
  ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(options[name] ?? '');

export function cpuOptionsOf(options: Options): CpuOptions {
  return {
    fullCores: isOn(options, 'full-pcpus-only'),
    distributeAcrossNodes: isOn(options, 'distribute-cpus-across-numa'),
    alignBySocket: isOn(options, 'align-by-socket'),
    distributeAcrossCores: isOn(options, 'distribute-cpus-across-cores'),
    strictReservation: isOn(options, 'strict-cpu-reservation'),
    alignByCache: isOn(options, 'prefer-align-cpus-by-uncorecache'),
  };
}

export const prefersClosest = (options: Options): boolean => isOn(options, 'prefer-closest-numa-nodes');

/** Why this machine can't be used with these settings; the words are those of the reference. */
export function topologyProblem({
  policy,
  options,
  topology,
}: {
  readonly policy: TopologyPolicy;
  readonly options: CpuOptions;
  readonly topology: CpuTopology;
}): string | undefined {
  if (!options.alignBySocket) return undefined;
  if (policy === 'single-numa-node')
    return 'Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option';
  if (topology.sockets <= topology.nodes.length) return undefined;
  return 'Align by socket is not compatible with hardware where number of sockets are more than number of NUMA';
}

const USUAL_NUMA_NODES = 8;

export function mostNodesOf(options: Options): number {
  const most = Number(options['max-allowable-numa-nodes'] ?? USUAL_NUMA_NODES);
  return Number.isSafeInteger(most) ? Math.max(most, USUAL_NUMA_NODES) : USUAL_NUMA_NODES;
}

/** Why the NUMA nodes of this machine can't be used. */
export function numaProblem(
  nodes: readonly Pick<MemoryNode, 'id' | 'distances'>[],
  topology: { readonly mostNodes: number; readonly preferClosest: boolean } | undefined,
  pinsMemory: boolean,
): string | undefined {
  if (topology !== undefined && nodes.length > topology.mostNodes)
    return `unsupported on machines with more than ${topology.mostNodes} NUMA Nodes`;
  if (topology?.preferClosest === true && nodes.some(({ distances }) => distances.length === 0))
    return 'cannot discover NUMA topology: error getting NUMA distances from cadvisor';
  const tooLarge = nodes.find(({ id }) => id > LARGEST_NUMA_ID);
  if (tooLarge === undefined || (topology === undefined && !pinsMemory)) return undefined;
  return `unsupported on machines with a NUMA Node ${tooLarge.id}: ids up to ${LARGEST_NUMA_ID} are supported`;
}
