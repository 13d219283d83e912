/**
 * Returns the memory of closed connections to the system. The C library keeps what TLS allocated for them until it is asked to return it,
 * which takes some milliseconds: so this happens in a pause after many connections have closed, and once more after the garbage
 * collector has freed the last of them.
 */
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';

const WORTH_IT = 50;
const QUIET_MS = 3000;
const LATER_MS = 30_000;

export interface GiveBack {
  /** A connection has ended. */
  ended(): void;
  close(): void;
}

export function createGiveBack(clock: Clock, giveBack: () => void): GiveBack {
  let count = 0;
  let isLast = false;
  let isClosed = false;
  const alarm = createAlarm(clock, () => {
    count = 0;
    giveBack();
    if (!isLast) alarm.ringAt(clock.now() + LATER_MS);
    isLast = true;
  });
  return {
    ended: () => {
      count += 1;
      if (count < WORTH_IT || isClosed) return;
      isLast = false;
      alarm.clear();
      alarm.ringAt(clock.now() + QUIET_MS);
    },
    close: () => {
      // The last connections close after the port.
      isClosed = true;
      alarm.clear();
    },
  };
}
