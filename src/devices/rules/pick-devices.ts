/**
 * Which devices a container gets: first those that init containers of its pod have had, then those that the topology policy asks for. The plugin
 * may choose among the rest.
 */
import type { TopologyHint } from '../../model/assignment.ts';
import type { Inventory } from './inventory.ts';

export interface PickInput {
  readonly inventory: Inventory;
  readonly needed: number;
  /** Devices of init containers of the pod that have ended when this container runs. */
  readonly reusable: ReadonlySet<string>;
  /** Ids that some container has. */
  readonly inUse: ReadonlySet<string>;
  readonly hint: TopologyHint | undefined;
}

/** `taken` is settled; `rest` more are taken of the candidates, in their order unless the plugin prefers others. */
export interface Pick {
  readonly kind: 'pick';
  readonly taken: readonly string[];
  readonly candidates: readonly string[];
  readonly rest: number;
}

export type PickResult = Pick | { readonly kind: 'too-few'; readonly needed: number; readonly available: number };

export function planPick({ inventory, needed, reusable, inUse, hint }: PickInput): PickResult {
  const taken = [...reusable].slice(0, needed);
  let rest = needed - taken.length;
  if (rest === 0) return { kind: 'pick', taken, candidates: [], rest };
  const available = [...inventory.values()].filter(({ id, healthy }) => healthy && !inUse.has(id));
  if (available.length < rest) return { kind: 'too-few', needed: rest, available: available.length };
  const affinity = hint?.affinity;
  if (affinity === undefined) return { kind: 'pick', taken, candidates: available.map(({ id }) => id), rest };
  const idsOf = (fits: (mask: number) => boolean) => available.filter(({ mask }) => fits(mask)).map(({ id }) => id);
  const aligned = idsOf((mask) => (mask & affinity) !== 0);
  if (rest < aligned.length) return { kind: 'pick', taken, candidates: aligned, rest };
  rest -= aligned.length;
  const unaligned = idsOf((mask) => mask !== 0 && (mask & affinity) === 0);
  const withoutTopology = idsOf((mask) => mask === 0);
  return { kind: 'pick', taken: [...taken, ...aligned], candidates: [...unaligned, ...withoutTopology], rest };
}

/** What the plugin prefers comes first, as far as it can be had. */
export function finishPick({ taken, candidates, rest }: Pick, preferred: readonly string[]): readonly string[] {
  if (rest === 0) return taken;
  const possible = new Set(candidates);
  const chosen = new Set(preferred.filter((id) => possible.has(id)).slice(0, rest));
  for (const id of candidates) {
    if (chosen.size >= rest) break;
    chosen.add(id);
  }
  return [...taken, ...chosen];
}
