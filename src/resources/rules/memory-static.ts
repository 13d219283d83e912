/** The static policy of the memory manager: from which NUMA nodes guaranteed containers have their memory and huge pages. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import type { NumaMask, TopologyHint, TopologyHints } from '../../model/assignment.ts';
import type { Answer } from './cpu-static.ts';
import { isManaged, isPodManaged, type ManagerGates } from './exclusive-cpus.ts';
import {
  allocatableOn,
  freeOn,
  giveBackMemory,
  type MemoryBlock,
  mayGroup,
  type NodeMemories,
  takeMemory,
} from './memory-nodes.ts';
import { containerMemory, emptyMemoryPool, type MemoryAmounts, podMemory } from './memory-request.ts';
import { isNarrower, maskOf, nodesIn, sizeOf, subsetsOf } from './numa-mask.ts';

export interface MemoryState {
  readonly nodes: NodeMemories;
  /** By UID of the pod and name of the container. */
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, readonly MemoryBlock[]>>;
  /** Of pods that have memory as a whole, by UID. */
  readonly pods: ReadonlyMap<string, readonly MemoryBlock[]>;
}

/** What init containers of the pod had, which end before the next container starts: bytes by nodes and resource. */
export type ReusableMemory = ReadonlyMap<string, number>;

export const NO_REUSABLE: ReusableMemory = new Map();

const keyOf = (mask: NumaMask, type: string): string => `${mask} ${type}`;

export const memoryOf = ({ containers }: MemoryState, uid: string, name: string): readonly MemoryBlock[] | undefined =>
  containers.get(uid)?.get(name);

const NO_PREFERENCE: TopologyHints = new Map();

export interface MemoryHintRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly reusable: ReusableMemory;
}

export function memoryHints(
  state: MemoryState,
  { pod, container, reusable }: MemoryHintRequest,
  gates: ManagerGates,
): TopologyHints {
  if (!isManaged(pod, gates)) return NO_PREFERENCE;
  const request = containerMemory(pod, container, gates);
  const has = memoryOf(state, pod.metadata.uid, container.name);
  return has === undefined ? hintsFor(state.nodes, request, reusable) : hintsOf(has, request);
}

export function podMemoryHints(
  state: MemoryState,
  { pod, reusable }: Omit<MemoryHintRequest, 'container'>,
  gates: ManagerGates,
): TopologyHints {
  if (!isManaged(pod, gates)) return NO_PREFERENCE;
  const request = podMemory(pod, gates);
  if (isPodManaged(pod, gates) && emptyMemoryPool(pod, gates) !== undefined)
    return new Map([...request.keys()].map((type) => [type, []]));
  for (const { name } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const has = memoryOf(state, pod.metadata.uid, name);
    if (has !== undefined) return hintsOf(has, request);
  }
  return hintsFor(state.nodes, request, reusable);
}

/** What the container has already; no preference where it has something else than it requests. */
function hintsOf(blocks: readonly MemoryBlock[], request: MemoryAmounts): TopologyHints {
  const fits = blocks.length === request.size && blocks.every(({ type, bytes }) => request.get(type) === bytes);
  if (!fits) return NO_PREFERENCE;
  return new Map(blocks.map(({ type, nodes }) => [type, [{ affinity: maskOf(nodes), preferred: true }]]));
}

/** The same for each resource, since all of them come from the same nodes. No entry where no set of nodes has enough. */
function hintsFor(nodes: NodeMemories, request: MemoryAmounts, reusable: ReusableMemory): TopologyHints {
  const hints = possibleNodes(nodes, request, reusable);
  return new Map(hints.length === 0 ? [] : [...request.keys()].map((type) => [type, hints]));
}

function possibleNodes(nodes: NodeMemories, request: MemoryAmounts, reusable: ReusableMemory): readonly TopologyHint[] {
  // As the reference has it: a container that requests none fits nowhere, where no hint says where its pod is.
  if (request.size === 0) return [];
  const ids = [...nodes.keys()].toSorted((a, b) => a - b);
  const sum = (of: typeof freeOn, set: readonly number[], type: string) =>
    set.reduce((total, id) => total + of(nodes, id, type), 0);
  const every = (enough: (type: string, bytes: number) => boolean) =>
    [...request].every(([type, bytes]) => enough(type, bytes));
  let fewest = ids.length;
  const possible: NumaMask[] = [];
  for (const mask of subsetsOf(ids)) {
    const set = nodesIn(mask);
    if (!every((type, bytes) => sum(allocatableOn, set, type) >= bytes)) continue;
    fewest = Math.min(fewest, set.length);
    const [first = -1] = set;
    const isInGroup = set.length === 1 && (nodes.get(first)?.cells.length ?? 1) > 1;
    if (isInGroup || !mayGroup(nodes, set)) continue;
    if (every((type, bytes) => sum(freeOn, set, type) + (reusable.get(keyOf(mask, type)) ?? 0) >= bytes))
      possible.push(mask);
  }
  return possible.map((affinity) => ({ affinity, preferred: sizeOf(affinity) === fewest }));
}

export interface MemoryRequest extends MemoryHintRequest {
  readonly hint: TopologyHint | undefined;
}

export interface MemoryAllocation {
  readonly state: MemoryState;
  readonly reusable: ReusableMemory;
}

export function allocateMemory(
  state: MemoryState,
  { pod, container, hint, reusable }: MemoryRequest,
  gates: ManagerGates,
): Answer<MemoryAllocation> {
  if (!isManaged(pod, gates)) return { ok: true, value: { state, reusable } };
  const { uid } = pod.metadata;
  const has = memoryOf(state, uid, container.name);
  if (has !== undefined) return { ok: true, value: { state, reusable: nextReusable(pod, container, reusable, has) } };
  const request = containerMemory(pod, container, gates);
  const placed = placeMemory(state.nodes, request, { hint, reusable });
  if (!placed.ok) return placed;
  const mask = placed.value;
  const blocks = blocksOf(request, mask);
  const nodes = blocks.reduce((made, block) => {
    const reused = reusable.get(keyOf(mask, block.type)) ?? 0;
    return takeMemory(made, { ...block, bytes: Math.max(0, block.bytes - reused) });
  }, state.nodes);
  const next = withBlocks({ ...state, nodes }, uid, container.name, blocks);
  return {
    ok: true,
    value: {
      state: withoutReused(next, pod, container, blocks),
      reusable: nextReusable(pod, container, reusable, blocks),
    },
  };
}

const blocksOf = (request: MemoryAmounts, mask: NumaMask): readonly MemoryBlock[] =>
  [...request].map(([type, bytes]) => ({ nodes: nodesIn(mask), type, bytes }));

/** The pod gets its memory as a whole from one set of nodes; containers without a part of their own share what the others leave. */
export function allocatePodMemory(
  state: MemoryState,
  { pod, hint }: Pick<MemoryRequest, 'pod' | 'hint'>,
  gates: ManagerGates,
): Answer<MemoryState> {
  const { uid } = pod.metadata;
  if (!isManaged(pod, gates) || state.pods.has(uid)) return { ok: true, value: state };
  const empty = emptyMemoryPool(pod, gates);
  if (empty !== undefined) return { ok: false, refusal: { reason: 'EmptyPodSharedPoolError', message: empty } };
  const total = podMemory(pod, gates);
  const placed = placeMemory(state.nodes, total, { hint, reusable: NO_REUSABLE });
  if (!placed.ok) return placed;
  const blocks = blocksOf(total, placed.value);
  const nodes = blocks.reduce(takeMemory, state.nodes);
  let next: MemoryState = { ...state, nodes, pods: new Map([...state.pods, [uid, blocks]]) };
  for (const [name, amounts] of dividePodMemory(pod, total, gates)) {
    const own = new Map([...amounts].filter(([, bytes]) => bytes > 0));
    next = withBlocks(next, uid, name, blocksOf(own, placed.value));
  }
  return { ok: true, value: next };
}

function dividePodMemory(pod: Pod, total: MemoryAmounts, gates: ManagerGates): ReadonlyMap<string, MemoryAmounts> {
  const parts = new Map<string, MemoryAmounts>();
  const shares: string[] = [];
  const minus = (from: MemoryAmounts, amounts: MemoryAmounts): MemoryAmounts =>
    new Map([...from].map(([type, bytes]) => [type, bytes - (amounts.get(type) ?? 0)]));
  let rest = total;
  for (const container of pod.spec.initContainers ?? []) {
    const own = containerMemory(pod, container, gates);
    const isSidecar = container.restartPolicy === 'Always';
    if (own.size === 0 && isSidecar) shares.push(container.name);
    else parts.set(container.name, own.size === 0 ? rest : own);
    if (isSidecar) rest = minus(rest, own);
  }
  for (const container of pod.spec.containers) {
    const own = containerMemory(pod, container, gates);
    if (own.size === 0) shares.push(container.name);
    else parts.set(container.name, own);
    rest = minus(rest, own);
  }
  for (const name of shares) parts.set(name, rest);
  return parts;
}

/** The nodes that the memory is taken from: those of the hint, more where these don't have enough, the best ones where there is no hint. */
function placeMemory(
  nodes: NodeMemories,
  request: MemoryAmounts,
  { hint, reusable }: { readonly hint: TopologyHint | undefined; readonly reusable: ReusableMemory },
): Answer<NumaMask> {
  const refuse = (problem: string): Answer<NumaMask> => ({
    ok: false,
    refusal: { message: `[memorymanager] ${problem}` },
  });
  let best = hint ?? { affinity: undefined, preferred: false };
  if (best.affinity === undefined) {
    const found = bestHint(possibleNodes(nodes, request, reusable));
    if (found === undefined)
      return refuse('failed to get the default NUMA affinity, no NUMA nodes with enough memory is available');
    if (!found.preferred && best.preferred) return refuse('failed to find the default preferred hint');
    best = found;
  }
  const has = (mask: NumaMask) =>
    [...request].every(([type, bytes]) => nodesIn(mask).reduce((sum, id) => sum + freeOn(nodes, id, type), 0) >= bytes);
  if (!has(best.affinity ?? 0)) {
    const inside = best.affinity ?? 0;
    const wider = possibleNodes(nodes, request, reusable).filter(({ affinity = 0 }) => (affinity & inside) === inside);
    const found = bestHint(wider);
    if (found === undefined) return refuse('failed to find NUMA nodes to extend the current topology hint');
    if (!found.preferred && best.preferred) return refuse('failed to find the extended preferred hint');
    best = found;
  }
  const mask = best.affinity ?? 0;
  return mayGroup(nodes, nodesIn(mask))
    ? { ok: true, value: mask }
    : refuse('preferred hint violates NUMA node allocation');
}

function bestHint(hints: readonly TopologyHint[]): TopologyHint | undefined {
  let best: TopologyHint | undefined;
  for (const hint of hints) {
    const isBetter =
      best === undefined ||
      (hint.preferred && !best.preferred) ||
      (hint.preferred === best.preferred && isNarrower(hint.affinity ?? 0, best.affinity ?? 0));
    if (isBetter) best = hint;
  }
  return best;
}

const endsBefore = (pod: Pod, { name }: Container): boolean => {
  const init = pod.spec.initContainers?.find((one) => one.name === name);
  return init !== undefined && init.restartPolicy !== 'Always';
};

function nextReusable(
  pod: Pod,
  container: Container,
  reusable: ReusableMemory,
  blocks: readonly MemoryBlock[],
): ReusableMemory {
  const next = new Map(reusable);
  for (const { nodes, type, bytes } of blocks) {
    const key = keyOf(maskOf(nodes), type);
    const before = next.get(key) ?? 0;
    next.set(key, endsBefore(pod, container) ? Math.max(before, bytes) : Math.max(0, before - bytes));
  }
  return next;
}

/**
 * Memory of an init container that a later container has too belongs to the later one in the record: the sum over all containers is what the pod has.
 */
function withoutReused(
  state: MemoryState,
  pod: Pod,
  container: Container,
  blocks: readonly MemoryBlock[],
): MemoryState {
  let next = state;
  const inits = pod.spec.initContainers ?? [];
  const own = inits.findIndex(({ name }) => name === container.name);
  const earlier = (own < 0 ? inits : inits.slice(0, own)).filter((one) => endsBefore(pod, one));
  for (const { nodes, type, bytes } of blocks) {
    let left = bytes;
    for (const { name } of earlier) {
      const had = memoryOf(next, pod.metadata.uid, name) ?? [];
      const reduced = had.map((block) => {
        if (block.type !== type || maskOf(block.nodes) !== maskOf(nodes)) return block;
        const reused = Math.min(left, block.bytes);
        left -= reused;
        return { ...block, bytes: block.bytes - reused };
      });
      if (had.length > 0) next = withBlocks(next, pod.metadata.uid, name, reduced);
    }
  }
  return next;
}

export function withBlocks(
  state: MemoryState,
  uid: string,
  name: string,
  blocks: readonly MemoryBlock[] | undefined,
): MemoryState {
  const others = [...(state.containers.get(uid) ?? [])].filter(([other]) => other !== name || blocks !== undefined);
  const own = new Map(blocks === undefined ? others : [...others, [name, blocks]]);
  const pods = [...state.containers].filter(([other]) => other !== uid || own.size > 0);
  return { ...state, containers: new Map(own.size === 0 ? pods : [...pods, [uid, own]]) };
}

/** The pod has ended: others may have its memory. */
export function releaseMemory(state: MemoryState, uid: string): MemoryState {
  const own = state.containers.get(uid);
  const pod = state.pods.get(uid);
  if (own === undefined && pod === undefined) return state;
  const blocks = pod ?? [...(own?.values() ?? [])].flat();
  const without = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([key]) => key !== uid));
  return {
    nodes: giveBackMemory(state.nodes, blocks),
    containers: without(state.containers),
    pods: without(state.pods),
  };
}

/** An init container has ended, and the next one starts: what only the init container had is free. */
export function releaseContainerMemory(state: MemoryState, uid: string, name: string): MemoryState {
  const blocks = memoryOf(state, uid, name);
  if (blocks === undefined || state.pods.has(uid)) return state;
  return withBlocks({ ...state, nodes: giveBackMemory(state.nodes, blocks) }, uid, name, undefined);
}
