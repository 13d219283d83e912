/** How long a pod waits before it tries again to pull an image: 10 s, doubled with each failure, at most 5 min. */
export interface PullFailure {
  readonly waitMs: number;
  /** When it failed last, wall clock, milliseconds. */
  readonly at: number;
  /** The reason and text of that failure: what users read while the pod waits. */
  readonly error: string;
}

const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 300_000;
/** A failure that long ago says nothing about the next attempt. */
const FORGET_AFTER_MS = 2 * LONGEST_WAIT_MS;

export function nextFailure(last: PullFailure | undefined, error: string, now: number): PullFailure {
  const waitMs =
    last === undefined || isForgotten(last, now) ? FIRST_WAIT_MS : Math.min(last.waitMs * 2, LONGEST_WAIT_MS);
  return { waitMs, at: now, error };
}

/** Until when no attempt is made; undefined if one may be made now. A clock that was set back doesn't lengthen the wait. */
export function backOffUntil(last: PullFailure | undefined, now: number): number | undefined {
  if (last === undefined || now < last.at) return undefined;
  const until = last.at + last.waitMs;
  return now < until ? until : undefined;
}

export function isForgotten({ at }: PullFailure, now: number): boolean {
  return now - at > FORGET_AFTER_MS;
}
