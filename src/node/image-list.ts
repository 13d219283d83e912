/** The images on this node, as of at most half a minute ago. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { withDeadline } from '../base/signal.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';

export interface ImageList {
  /** Asks the runtime if the last answer is old; what was known stays if it does not answer. */
  current(signal: AbortSignal): Promise<readonly Image[]>;
}

const FRESH_MS = 30_000;
/** A runtime that hangs must not hold up the news that it does. */
const WAIT_MS = 2000;

export function createImageList(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly list: (signal: AbortSignal) => Promise<readonly Image[]>;
}): ImageList {
  let known: readonly Image[] = [];
  let askedAt: number | undefined;
  return {
    current: async (signal) => {
      if (askedAt !== undefined && deps.clock.mono() - askedAt < FRESH_MS) return known;
      using deadline = withDeadline(deps.clock, WAIT_MS, 'list of images', signal);
      try {
        known = await deps.list(deadline.signal);
        askedAt = deps.clock.mono();
      } catch (error) {
        if (signal.aborted) throw error;
        deps.log.v(2)?.info('Images could not be listed', { err: error });
      }
      return known;
    },
  };
}
