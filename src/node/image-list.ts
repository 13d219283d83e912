/** The images on this node, at most half a minute old. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { withDeadline } from '../base/signal.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';

export interface ImageList {
  /** Lists the images if the last list is old; that list stays in use if the runtime does not answer. */
  current(signal: AbortSignal): Promise<readonly Image[]>;
}

const FRESH_MS = 30_000;
/** A runtime that hangs must not delay the node status that reports it. */
const WAIT_MS = 2000;

export function createImageList(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly list: (signal: AbortSignal) => Promise<readonly Image[]>;
}): ImageList {
  let known: readonly Image[] = [];
  let listedAt: number | undefined;
  return {
    current: async (signal) => {
      if (listedAt !== undefined && deps.clock.mono() - listedAt < FRESH_MS) return known;
      using deadline = withDeadline(deps.clock, WAIT_MS, 'list of images', signal);
      try {
        known = await deps.list(deadline.signal);
        listedAt = deps.clock.mono();
      } catch (error) {
        if (signal.aborted) throw error;
        deps.log.v(2)?.info('Failed to list images', { err: error });
      }
      return known;
    },
  };
}
