import type { Clock } from './clock.ts';

export interface ManualClock extends Clock {
  /** Moves time forward and wakes every sleeper that is due, in the order in which they are due. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, as an administrator or NTP does; the monotonic clock and sleepers do not notice. */
  set(now: number): void;
  /** How many sleepers wait: lets a test know that the code under test has reached its wait. */
  sleepers(): number;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export function createManualClock(start = 0): ManualClock {
  let time = start;
  let offset = 0;
  const sleepers = new Set<Sleeper>();

  const nextDue = (until: number): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.due <= until && (first === undefined || sleeper.due < first.due)) first = sleeper;
    }
    return first;
  };

  return {
    now: () => time + offset,
    set: (now) => {
      offset = now - time;
    },
    mono: () => time,
    sleepers: () => sleepers.size,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        };
        const sleeper: Sleeper = {
          due: time + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', onAbort, { once: true });
      }),
    advance: async (ms) => {
      const end = time + ms;
      for (let sleeper = nextDue(end); sleeper !== undefined; sleeper = nextDue(end)) {
        time = Math.max(time, sleeper.due);
        sleeper.wake();
        // The woken code may sleep again before `end`: let it run first.
        await new Promise((resolve) => setImmediate(resolve));
      }
      time = end;
    },
  };
}
