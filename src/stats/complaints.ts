/** One line a minute about what could not be read, however much it is: statistics are asked for all the time. */
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

export type Complain = (what: string, error: unknown) => void;

const EVERY_MS = 60_000;

export function createComplaints(log: Logger, mono: () => number): Complain {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let notLogged = 0;
  return (what, error) => {
    if (mono() - loggedAt < EVERY_MS) {
      notLogged += 1;
      return;
    }
    loggedAt = mono();
    log.warn('Failed to read statistics', {
      what,
      err: describeError(error),
      ...(notLogged === 0 ? {} : { alsoFailedSince: notLogged }),
    });
    notLogged = 0;
  };
}

/** One failure costs its own numbers, not all others. Where who asked has gone, nothing failed. */
export async function orUndefined<T>(
  { complain, what, signal }: { readonly complain: Complain; readonly what: string; readonly signal: AbortSignal },
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    complain(what, error);
    return undefined;
  }
}
