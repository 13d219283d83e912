/**
 * Memory of connections that have ended. The C library keeps what TLS took for them and gives it back to the system only when it is asked
 * to; that takes some milliseconds, so it is asked when many have gone and it is quiet again, and once more when the engine, too, has
 * let go of the last of them.
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
      // The last connections are heard of after the port is closed.
      isClosed = true;
      alarm.clear();
    },
  };
}
