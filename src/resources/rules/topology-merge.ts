/**
 * Which NUMA nodes a container (or pod) is placed on, from the hints of every provider: the topology policies of the kubelet.
 *
 * The result is that of comparing every combination of one hint of each resource. That would be 255 to the power of 16 combinations with 8
 * nodes and 16 resources; but a combination only counts by the nodes that all of its hints have in common and by whether it is preferred,
 * and of these there are at most 512. So resource after resource, the reachable ones are computed.
 */
import type { NumaMask, TopologyHint, TopologyHints } from '../../model/assignment.ts';
import { maskOf, nodesIn, sizeOf } from './numa-mask.ts';

export type TopologyPolicy = 'none' | 'best-effort' | 'restricted' | 'single-numa-node';

export interface TopologySettings {
  readonly policy: TopologyPolicy;
  readonly scope: 'container' | 'pod';
  /** The option prefer-closest-numa-nodes. */
  readonly preferClosest: boolean;
  /** The ids of all NUMA nodes. */
  readonly nodes: readonly number[];
  /** By the id of a node: its distances to the nodes, by their position. */
  readonly distances: ReadonlyMap<number, readonly number[]>;
}

export interface MergedHint {
  readonly hint: TopologyHint;
  readonly admit: boolean;
}

/** Each provider's hints. A provider without any has no preference. */
export function mergeHints(providers: readonly TopologyHints[], settings: TopologySettings): MergedHint {
  if (settings.policy === 'none') return { hint: { affinity: undefined, preferred: false }, admit: true };
  const all = providers.flatMap(resourceHints);
  if (settings.policy !== 'single-numa-node') {
    const hint = bestOf(all, settings);
    return { hint, admit: settings.policy === 'best-effort' || hint.preferred };
  }
  const single = all.map((hints) => hints.filter(isOnOneNode));
  const best = bestOf(single, { ...settings, preferClosest: false });
  const affinity = best.affinity === maskOf(settings.nodes) ? undefined : best.affinity;
  return { hint: { affinity, preferred: best.preferred }, admit: best.preferred };
}

const ANYWHERE: TopologyHint = { affinity: undefined, preferred: true };
const NOWHERE: TopologyHint = { affinity: undefined, preferred: false };

function resourceHints(hints: TopologyHints): readonly (readonly TopologyHint[])[] {
  if (hints.size === 0) return [[ANYWHERE]];
  return [...hints.values()].map((own) => {
    if (own === undefined) return [ANYWHERE];
    return own.length === 0 ? [NOWHERE] : own;
  });
}

const isOnOneNode = ({ affinity, preferred }: TopologyHint): boolean =>
  preferred && (affinity === undefined || sizeOf(affinity) === 1);

/** What hints have in common. Preferred: all of them are, and all of those that name nodes name the same. */
interface Common {
  /** Undefined: none of them names nodes. */
  readonly nodes: NumaMask | undefined;
  readonly preferred: boolean;
}

function bestOf(all: readonly (readonly TopologyHint[])[], settings: TopologySettings): TopologyHint {
  const everyNode = maskOf(settings.nodes);
  let reachable: readonly Common[] = [{ nodes: undefined, preferred: true }];
  for (const hints of all) reachable = combine(reachable, hints);
  const largestNeed = Math.max(0, ...all.map(smallestAffinity));
  const isBetter = compareBy(settings, largestNeed);
  let best: { affinity: NumaMask; preferred: boolean } | undefined;
  for (const { nodes, preferred } of reachable) {
    const candidate = { affinity: (nodes ?? everyNode) & everyNode, preferred };
    if (candidate.affinity !== 0 && (best === undefined || isBetter(candidate, best))) best = candidate;
  }
  return best ?? { affinity: everyNode, preferred: false };
}

function combine(reachable: readonly Common[], hints: readonly TopologyHint[]): readonly Common[] {
  const found = new Map<string, Common>();
  for (const before of reachable) {
    for (const { affinity, preferred } of hints) {
      const nodes =
        affinity === undefined || before.nodes === undefined ? (affinity ?? before.nodes) : before.nodes & affinity;
      const isSame = affinity === undefined || before.nodes === undefined || before.nodes === affinity;
      const next = { nodes, preferred: before.preferred && preferred && isSame };
      found.set(`${next.nodes} ${next.preferred}`, next);
    }
  }
  return [...found.values()];
}

/** So many nodes the resource needs at least; 0 where it names none. */
function smallestAffinity(hints: readonly TopologyHint[]): number {
  const sizes = hints.flatMap(({ affinity }) => (affinity === undefined ? [] : [sizeOf(affinity)]));
  return sizes.length === 0 ? 0 : Math.min(...sizes);
}

type Candidate = { readonly affinity: NumaMask; readonly preferred: boolean };

/**
 * Preferred before others. Of preferred ones the narrowest. Of others one with as many nodes as the neediest resource needs; else the widest
 * below that number, else the narrowest above it. Of equally wide ones the closest where that is set, and at last the lowest.
 */
function compareBy(
  settings: TopologySettings,
  largestNeed: number,
): (candidate: Candidate, best: Candidate) => boolean {
  const rank = ({ affinity, preferred }: Candidate): readonly number[] => {
    const size = sizeOf(affinity);
    const width = preferred ? size : widthRank(size, largestNeed);
    const distance = settings.preferClosest ? averageDistance(affinity, settings) : 0;
    return [preferred ? 0 : 1, width, distance, affinity];
  };
  return (candidate, best) => {
    const [left, right] = [rank(candidate), rank(best)];
    const index = left.findIndex((value, at) => value !== right[at]);
    return index >= 0 && (left[index] ?? 0) < (right[index] ?? 0);
  };
}

function widthRank(size: number, need: number): number {
  return size <= need ? need - size : size + need;
}

function averageDistance(mask: NumaMask, { distances }: TopologySettings): number {
  const nodes = nodesIn(mask);
  const sum = nodes.reduce(
    (total, from) => total + nodes.reduce((own, to) => own + (distances.get(from)?.[to] ?? 0), 0),
    0,
  );
  return sum / (nodes.length * nodes.length);
}
