/** The last hour of the node and of each pod, at a fixed distance of time, in memory of a fixed size. */
import type { Rates } from './rules/rates.ts';
import { type Point, SERIES } from './rules/series.ts';

export const KEPT_EVERY_MS = 15_000;
const KEPT_FOR_MS = 3_600_000;
const POINTS = KEPT_FOR_MS / KEPT_EVERY_MS;
/** More than a node can run; of pods beyond that no past is kept. */
const MOST_PODS = 500;

export interface KeptSeries {
  readonly times: readonly number[];
  readonly points: readonly Point[];
}

export interface History {
  add(rates: Rates): void;
  node(): KeptSeries;
  /** Undefined: nothing is known of it. */
  pod(uid: string): KeptSeries | undefined;
}

interface Ring {
  readonly values: Float32Array;
  /** The number of the round at which it was last filled. */
  last: number;
}

export function createHistory(): History {
  const width = SERIES.length;
  const times = new Float64Array(POINTS);
  const node = newRing(width);
  const pods = new Map<string, Ring>();
  let rounds = 0;

  const put = (ring: Ring, point: Point): void => {
    const at = rounds % POINTS;
    // What was missed since then is not what was there an hour ago.
    for (let round = Math.max(ring.last + 1, rounds - POINTS + 1); round < rounds; round += 1)
      ring.values.fill(Number.NaN, (round % POINTS) * width, ((round % POINTS) + 1) * width);
    ring.values.set(
      point.map((value) => value ?? Number.NaN),
      at * width,
    );
    ring.last = rounds;
  };

  const read = (ring: Ring): KeptSeries => {
    const first = Math.max(rounds - POINTS, 0);
    const kept = Array.from({ length: rounds - first }, (_, index) => first + index).filter((one) => one <= ring.last);
    return {
      times: kept.map((round) => times[round % POINTS] ?? 0),
      points: kept.map((round) => pointAt(ring.values, (round % POINTS) * width, width)),
    };
  };

  return {
    add: (rates) => {
      times[rounds % POINTS] = rates.time;
      put(node, rates.node);
      for (const [uid, { point }] of rates.pods) {
        const ring = pods.get(uid) ?? (pods.size < MOST_PODS ? newRing(width) : undefined);
        if (ring === undefined) continue;
        pods.set(uid, ring);
        put(ring, point);
      }
      rounds += 1;
      for (const [uid, { last }] of pods) if (last < rounds - POINTS) pods.delete(uid);
    },
    node: () => read(node),
    pod: (uid) => {
      const ring = pods.get(uid);
      return ring && read(ring);
    },
  };
}

const newRing = (width: number): Ring => ({ values: new Float32Array(POINTS * width).fill(Number.NaN), last: -1 });

function pointAt(values: Float32Array, from: number, width: number): Point {
  const found = Array.from(values.subarray(from, from + width), (value) => (Number.isNaN(value) ? null : value));
  return found as unknown as Point;
}
