/** Sets of NUMA nodes as bits. */
import type { NumaMask } from '../../model/assignment.ts';

export function maskOf(ids: Iterable<number>): NumaMask {
  let mask = 0;
  for (const id of ids) mask |= 1 << id;
  return mask;
}

/** The ids of the nodes in it, smallest first. */
export function nodesIn(mask: NumaMask): readonly number[] {
  const ids: number[] = [];
  for (let id = 0, rest = mask; rest !== 0; id += 1, rest >>>= 1) if ((rest & 1) === 1) ids.push(id);
  return ids;
}

export function sizeOf(mask: NumaMask): number {
  let size = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) size += 1;
  return size;
}

/** Fewer nodes first, then lower ones: the order in which Kubernetes prefers sets of nodes. */
export function isNarrower(left: NumaMask, right: NumaMask): boolean {
  const difference = sizeOf(left) - sizeOf(right);
  return difference === 0 ? left < right : difference < 0;
}

/** Every set of these nodes that has at least one: 255 with 8 nodes. */
export function* subsetsOf(ids: readonly number[]): Generator<NumaMask> {
  const bits = ids.map((id) => 1 << id);
  for (let choice = 1; choice < 2 ** bits.length; choice += 1) {
    let mask = 0;
    for (const [index, bit] of bits.entries()) if (Math.floor(choice / 2 ** index) % 2 === 1) mask |= bit;
    yield mask;
  }
}
