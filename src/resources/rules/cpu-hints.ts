/** From which NUMA nodes a container or pod can have its CPUs. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import type { NumaMask, TopologyHint, TopologyHints } from '../../model/assignment.ts';
import {
  assignedCpus,
  availableCpus,
  type CpuSet,
  type CpuState,
  emptyCpuPool,
  type StaticCpus,
} from './cpu-static.ts';
import { socketsOfNodes } from './cpu-topology.ts';
import { exclusiveCpus, exclusiveCpusOfPod, isManaged, isPodManaged } from './exclusive-cpus.ts';
import { maskOf, nodesIn, sizeOf, subsetsOf } from './numa-mask.ts';

const NO_PREFERENCE: TopologyHints = new Map();
const IMPOSSIBLE: TopologyHints = new Map([['cpu', []]]);
const NONE: CpuSet = new Set();

export function cpuHints(
  policy: StaticCpus,
  state: CpuState,
  { pod, container, reusable }: { readonly pod: Pod; readonly container: Container; readonly reusable: CpuSet },
): TopologyHints {
  const count = exclusiveCpus(pod, container, policy.gates);
  if (count === 0 || !isManaged(pod, policy.gates)) return NO_PREFERENCE;
  const has = assignedCpus(state, pod.metadata.uid, container.name);
  if (has === undefined) return hints(policy, { free: availableCpus(policy, state), held: reusable, count });
  return has.size === count ? hints(policy, { free: has, held: NONE, count }) : IMPOSSIBLE;
}

export function podCpuHints(
  policy: StaticCpus,
  state: CpuState,
  { pod, reusable }: { readonly pod: Pod; readonly reusable: CpuSet },
): TopologyHints {
  const { gates } = policy;
  const count = exclusiveCpusOfPod(pod, gates);
  if (count === 0 || !isManaged(pod, gates)) return NO_PREFERENCE;
  if (isPodManaged(pod, gates) && emptyCpuPool(policy, pod) !== undefined) return IMPOSSIBLE;
  let has: CpuSet = NONE;
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const own = assignedCpus(state, pod.metadata.uid, container.name);
    if (own === undefined) continue;
    if (!isPodManaged(pod, gates) && own.size !== exclusiveCpus(pod, container, gates)) return IMPOSSIBLE;
    has = has.union(own);
  }
  if (has.size === count) return hints(policy, { free: has, held: NONE, count });
  return hints(policy, { free: availableCpus(policy, state), held: reusable.union(has), count });
}

/** Every set of nodes that has all CPUs which are held already and enough free ones. Preferred: no smaller set could ever have enough. */
function hints(
  { topology, options }: StaticCpus,
  { free, held, count }: { readonly free: CpuSet; readonly held: CpuSet; readonly count: number },
): TopologyHints {
  const perNode = (cpus: Iterable<number>): ReadonlyMap<number, number> => {
    const numbers = new Map<number, number>();
    for (const cpu of cpus) {
      const node = topology.cpus.get(cpu)?.node;
      if (node !== undefined) numbers.set(node, (numbers.get(node) ?? 0) + 1);
    }
    return numbers;
  };
  const [all, open, kept] = [perNode(topology.all), perNode(free), perNode(held)];
  const sum = (numbers: ReadonlyMap<number, number>, mask: NumaMask) =>
    nodesIn(mask).reduce((total, node) => total + (numbers.get(node) ?? 0), 0);
  const needed = maskOf(kept.keys());
  let fewest = topology.nodes.length;
  const possible: NumaMask[] = [];
  for (const mask of subsetsOf(topology.nodes)) {
    if (sum(all, mask) >= count) fewest = Math.min(fewest, sizeOf(mask));
    if ((mask & needed) === needed && sum(open, mask) + held.size >= count) possible.push(mask);
  }
  const isPreferred = (mask: NumaMask): boolean => {
    if (sizeOf(mask) === fewest) return true;
    const nodesPerSocket = Math.floor(topology.nodes.length / topology.sockets);
    if (!options.alignBySocket || nodesPerSocket === 0) return false;
    return socketsOfNodes(topology, nodesIn(mask)).size === Math.ceil(fewest / nodesPerSocket);
  };
  const made = possible.map((affinity): TopologyHint => ({ affinity, preferred: isPreferred(affinity) }));
  return new Map([['cpu', made]]);
}
