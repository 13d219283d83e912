/**
 * A mirror pod that somebody deletes comes back at once. Who deletes it again and again, such as another kubelet under this node's name that
 * knows no such pod, gets it back ever less often: the two would otherwise never stop.
 */
export interface Makings {
  /** How often in a row the mirror of one manifest was made. */
  readonly times: number;
  readonly at: number;
}

/** By hand nobody deletes faster. */
const AT_ONCE = 2;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;
/** After so long in peace all is forgotten. */
export const FORGOTTEN_MS = 60_000;

/** Not before this time is it made again. */
export function makeAgainAt(makings: Makings | undefined): number {
  if (makings === undefined || makings.times <= AT_ONCE) return 0;
  return makings.at + Math.min(FIRST_WAIT_MS * 2 ** (makings.times - AT_ONCE - 1), LONGEST_WAIT_MS);
}

export function noteMaking(before: Makings | undefined, now: number): Makings {
  const isRecent = before !== undefined && now - before.at < FORGOTTEN_MS;
  return { times: isRecent ? before.times + 1 : 1, at: now };
}
