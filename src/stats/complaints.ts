/** One line a minute about what could not be read, however much it is: statistics are asked for all the time. */
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

export type Complain = (what: string, error: unknown) => void;

const EVERY_MS = 60_000;

export function createComplaints(log: Logger, mono: () => number): Complain {
  let toldAt = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (what, error) => {
    if (mono() - toldAt < EVERY_MS) {
      untold += 1;
      return;
    }
    toldAt = mono();
    log.warn('Failed to read statistics', {
      what,
      err: describeError(error),
      ...(untold === 0 ? {} : { alsoFailedSince: untold }),
    });
    untold = 0;
  };
}
