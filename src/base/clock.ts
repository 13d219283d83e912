/**
 * Time as the rest of the program sees it: numbers from an injected clock, and waits that end on a signal.
 * Tests pass a clock of their own (`manual-clock.ts`), so no rule about time needs real seconds to be proven.
 */
export interface Clock {
  /** Wall clock, milliseconds since 1970. Jumps when the clock is set. */
  now(): number;
  /** Monotonic milliseconds (with fractions) since an arbitrary start. For durations and deadlines. */
  mono(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Node's timers take at most a signed 32-bit number of milliseconds; beyond it they fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    mono: () => performance.now(),
    sleep: async (ms, signal) => {
      let left = ms;
      while (left > LONGEST_TIMER) {
        await sleepOnce(LONGEST_TIMER, signal);
        left -= LONGEST_TIMER;
      }
      await sleepOnce(left, signal);
    },
  };
}

function sleepOnce(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
