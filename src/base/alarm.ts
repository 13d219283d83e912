/** Calls back once at a time that can be moved: the earliest request of those made since it last rang or was cleared. */
import type { Clock } from './clock.ts';

export interface Alarm {
  /** Rings at this wall-clock time, or sooner if an earlier request stands. */
  ringAt(time: number): void;
  clear(): void;
}

const CLEARED = 'cleared';

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let due: number | undefined;
  let timer: AbortController | undefined;
  const clear = () => {
    timer?.abort(CLEARED);
    timer = undefined;
    due = undefined;
  };
  return {
    ringAt: (time) => {
      if (due !== undefined && due <= time) return;
      clear();
      due = time;
      const own = new AbortController();
      timer = own;
      clock.sleep(Math.max(time - clock.now(), 0), own.signal).then(
        () => {
          clear();
          ring();
        },
        () => undefined, // moved or cleared
      );
    },
    clear,
  };
}
