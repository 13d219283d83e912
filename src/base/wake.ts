/** One bit that says "look again": many wakes before a look are one, and a wake during a look is not lost. */
export interface WakeBit {
  wake(): void;
  /** Resolves when `wake` was called since the last wait ended. One waiter at a time. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createWakeBit(): WakeBit {
  let awake = false;
  let resume: (() => void) | undefined;
  return {
    wake: () => {
      awake = true;
      resume?.();
    },
    wait: async (signal) => {
      while (!awake) {
        signal.throwIfAborted();
        await new Promise<void>((resolve, reject) => {
          const onAbort = () => {
            resume = undefined;
            reject(signal.reason);
          };
          resume = () => {
            resume = undefined;
            signal.removeEventListener('abort', onAbort);
            resolve();
          };
          signal.addEventListener('abort', onAbort, { once: true });
        });
      }
      awake = false;
    },
  };
}
