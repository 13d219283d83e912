/**
 * The safety net under the runtime's events: everything is listed now and then. Where something has just been looked at, things
 * happen, and an event that was lost is missed soonest: so it begins at a short pace and slows down while the node is idle.
 */
import { createAlarm } from '../../base/alarm.ts';
import type { Clock } from '../../base/clock.ts';
import { isClassified } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { createWakeBit } from '../../base/wake.ts';

export interface RelistDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
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

export function createRelisting({ clock, log, supervisor, relist, longestMs }: RelistDeps): Relisting {
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let wait = Math.min(SHORTEST_MS, longestMs);
  let runs = false;

  const list = async (signal: AbortSignal): Promise<void> => {
    // Before the list: what it finds begins a new round.
    wait = Math.min(wait * 2, longestMs);
    try {
      await relist(signal);
    } catch (error) {
      if (signal.aborted || !isClassified(error)) throw error;
      log.v(2)?.info('Unable to retrieve pods from the container runtime', { err: error });
    }
  };

  const rest = (signal: AbortSignal): Promise<void> => {
    alarm.ringAt(clock.now() + wait);
    return bit.wait(signal);
  };

  return {
    noteActivity: () => {
      wait = Math.min(SHORTEST_MS, longestMs);
      if (runs) alarm.ringAt(clock.now() + wait);
    },
    run: async (signal) => {
      runs = true;
      await supervisor.run({ name: 'runtime relist', restFirst: true, pass: list, rest }, signal);
      runs = false;
      alarm.clear();
    },
  };
}
