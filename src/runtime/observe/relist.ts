/**
 * The safety net under the runtime's events: everything is listed now and then. Where something has just been looked at, things
 * happen, and an event that was lost is missed soonest: so it begins at a short pace and slows down while all is quiet.
 */
import { createAlarm } from '../../base/alarm.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { createWakeBit } from '../../base/wake.ts';

export interface RelistDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly relist: (signal: AbortSignal) => Promise<void>;
  /** The pace at rest, ms. */
  readonly longestMs: number;
}

export interface Relisting {
  /** A pod was looked at: the next list is due soon. */
  noteActivity(): void;
  /** Returns when `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const SHORTEST_MS = 2000;

export function createRelisting({ clock, log, relist, longestMs }: RelistDeps): Relisting {
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let wait = Math.min(SHORTEST_MS, longestMs);
  let runs = false;

  const list = async (signal: AbortSignal): Promise<void> => {
    try {
      await relist(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.v(2)?.info('Could not list what the container runtime has', { err: error });
    }
  };

  return {
    noteActivity: () => {
      wait = Math.min(SHORTEST_MS, longestMs);
      if (runs) alarm.ringAt(clock.now() + wait);
    },
    run: async (signal) => {
      runs = true;
      try {
        while (!signal.aborted) {
          alarm.ringAt(clock.now() + wait);
          await bit.wait(signal);
          // Before the list: what it finds begins a new round.
          wait = Math.min(wait * 2, longestMs);
          await list(signal);
        }
      } finally {
        runs = false;
        alarm.clear();
      }
    },
  };
}
