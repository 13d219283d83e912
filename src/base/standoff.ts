/**
 * Another program undoes what only this kubelet should do: an administrator, or another kubelet under this node's name. It is done again, but for
 * who keeps at it ever less often: two who both answer at once would never stop.
 */
export interface Standoff {
  /** How often in a row it was done again. */
  readonly times: number;
  /** When that was last. */
  readonly at: number;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;
/** After so long in peace all is forgotten. */
export const FORGOTTEN_MS = 60_000;

/** Not before this time is it done again. `free`: how many times there is no wait after. */
export function mayAnswerAt(standoff: Standoff | undefined, free = 0): number {
  if (standoff === undefined || standoff.times <= free) return 0;
  return standoff.at + Math.min(FIRST_WAIT_MS * 2 ** (standoff.times - free - 1), LONGEST_WAIT_MS);
}

export function noteAnswer(before: Standoff | undefined, now: number): Standoff {
  const isRecent = before !== undefined && now - before.at < FORGOTTEN_MS;
  return { times: isRecent ? before.times + 1 : 1, at: now };
}
