/**
 * Takes CPUs evenly from as few NUMA nodes as can give an even share, in groups that stay together (the threads of a core). What is left over goes
 * to those nodes that leave the machine the most balanced.
 */
import { type Parsed, parsed } from '../../api/parsed.ts';
import { orderedGroups, type TakeOptions, takeCpus } from './cpu-take.ts';
import { type CpuTopology, groupCpus } from './cpu-topology.ts';

type CpuSet = ReadonlySet<number>;

export interface DistributeOptions {
  readonly groupSize: number;
  readonly spreadOverCores: boolean;
}

interface Share {
  readonly nodes: readonly number[];
  /** Nodes that give more than the even share, group by group in this order. */
  readonly more: readonly number[];
  /** The smaller, the more alike the nodes are afterwards. */
  readonly imbalance: number;
}

export function distributeCpus(
  topology: CpuTopology,
  free: CpuSet,
  count: number,
  { groupSize, spreadOverCores }: DistributeOptions,
): Parsed<CpuSet> {
  const options: TakeOptions = { spreadOverCores, alignByCache: false };
  const packed = () => takeCpus(topology, free, count, options);
  if (count < 1 || count > free.size || count % groupSize !== 0) return packed();
  const share = findShare(topology, free, { count, groupSize });
  if (share === undefined) return packed();
  const even = evenShare(count, share.nodes.length, groupSize);
  let taken: CpuSet = new Set();
  const takeFrom = (node: number, amount: number): boolean => {
    const own = groupCpus(topology, free.difference(taken), 'node').get(node) ?? new Set();
    const cpus = own.size < amount ? undefined : takeCpus(topology, own, amount, options);
    if (cpus?.ok !== true) return false;
    taken = taken.union(cpus.value);
    return true;
  };
  for (const node of share.nodes) takeFrom(node, even);
  for (let given = true; given && taken.size < count; ) {
    given = false;
    for (const node of share.more) if (taken.size < count) given = takeFrom(node, groupSize) || given;
  }
  return taken.size === count ? parsed(taken) : packed();
}

const evenShare = (count: number, nodes: number, groupSize: number): number =>
  Math.floor(Math.floor(count / nodes) / groupSize) * groupSize;

function findShare(
  topology: CpuTopology,
  free: CpuSet,
  { count, groupSize }: { count: number; groupSize: number },
): Share | undefined {
  const nodes = orderedGroups(topology, free, 'node');
  const sizes = new Map([...groupCpus(topology, free, 'node')].map(([node, cpus]) => [node, cpus.size]));
  const groups = Math.ceil(topology.all.size / groupSize);
  const groupsOfNode = Math.ceil(groups / topology.nodes.length);
  const needed = Math.ceil(count / groupSize);
  const fewest = Math.ceil(needed / groupsOfNode);
  for (let number = fewest; number <= Math.min(needed, nodes.length); number += 1) {
    let best: Share | undefined;
    for (const some of combinations(nodes, number)) {
      if (best?.imbalance === 0) break;
      const share = judgeNodes(sizes, some, { count, groupSize });
      if (share !== undefined && (best === undefined || share.imbalance < best.imbalance)) best = share;
    }
    if (best !== undefined) return best;
  }
  return undefined;
}

/** How balanced the machine is when these nodes give the CPUs; undefined where they can't. */
function judgeNodes(
  sizes: ReadonlyMap<number, number>,
  nodes: readonly number[],
  { count, groupSize }: { count: number; groupSize: number },
): Share | undefined {
  const of = (node: number) => sizes.get(node) ?? 0;
  const groups = nodes.reduce((sum, node) => sum + Math.floor(of(node) / groupSize), 0);
  const even = evenShare(count, nodes.length, groupSize);
  if (groups * groupSize < count || nodes.some((node) => of(node) < even)) return undefined;
  const left = new Map(sizes);
  for (const node of nodes) left.set(node, of(node) - even);
  const rest = count - even * nodes.length;
  if (rest === 0) return { nodes, more: [], imbalance: deviation([...left.values()]) };
  const able = nodes.filter((node) => (left.get(node) ?? 0) >= groupSize);
  let best: Share | undefined;
  for (let number = able.length; number >= 1; number -= 1) {
    for (const more of combinations(able, number)) {
      const after = giveRest(left, more, rest, groupSize);
      if (after === undefined) continue;
      const imbalance = deviation([...after.values()]);
      if (best === undefined || imbalance < best.imbalance) best = { nodes, more, imbalance };
    }
  }
  return best;
}

/** Undefined where these nodes don't have so many whole groups. */
function giveRest(
  left: ReadonlyMap<number, number>,
  nodes: readonly number[],
  rest: number,
  groupSize: number,
): ReadonlyMap<number, number> | undefined {
  const after = new Map(left);
  let missing = rest;
  for (let given = true; given && missing > 0; ) {
    given = false;
    for (const node of nodes) {
      const own = after.get(node) ?? 0;
      if (missing === 0 || own < groupSize) continue;
      after.set(node, own - groupSize);
      missing -= groupSize;
      given = true;
    }
  }
  return missing === 0 ? after : undefined;
}

/** Rounded to thousandths, as is the mean: what is that close counts as equal. */
function deviation(values: readonly number[]): number {
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const mean = round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return round(Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length));
}

/** Every choice of `size` values, in the order of the values. */
function* combinations(values: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [index, first] of values.entries())
    for (const rest of combinations(values.slice(index + 1), size - 1)) yield [first, ...rest];
}
