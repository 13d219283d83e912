/**
 * Somebody else writes what only this kubelet should: by hand, or as another kubelet under this node's name. It is put right at once the
 * first time; who keeps at it gets an answer ever less often, since two who both answer at once would never stop.
 */
export interface Overruled {
  /** How often in a row it was put right. */
  readonly times: number;
  /** When it was last put right. */
  readonly at: number;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;
/** After so long in peace all is forgotten. */
const FORGOTTEN_MS = 60_000;

/** Not before this time is it put right again. */
export function putRightAt(overruled: Overruled | undefined): number {
  if (overruled === undefined) return 0;
  return overruled.at + Math.min(FIRST_WAIT_MS * 2 ** (overruled.times - 1), LONGEST_WAIT_MS);
}

export function putRight(before: Overruled | undefined, now: number): Overruled {
  const isRecent = before !== undefined && now - before.at < FORGOTTEN_MS;
  return { times: isRecent ? before.times + 1 : 1, at: now };
}
