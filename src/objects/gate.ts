/** Opens when something is known; callers wait at it until then. It may close again. */
import type { Clock } from '../base/clock.ts';
import { linkSignal } from '../base/signal.ts';

export interface Gate {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
  /** True as soon as it is open, false if it is still closed after this time. Rejects with the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

const OPENED = 'opened';

export function createGate(clock: Clock): Gate {
  const waiting = new Set<(reason: string) => void>();
  let isOpen = false;
  return {
    get isOpen() {
      return isOpen;
    },
    open: () => {
      isOpen = true;
      for (const wake of waiting) wake(OPENED);
      waiting.clear();
    },
    close: () => {
      isOpen = false;
    },
    wait: async (ms, signal) => {
      if (isOpen) return true;
      signal.throwIfAborted();
      using timer = linkSignal(signal);
      waiting.add(timer.abort);
      try {
        await clock.sleep(ms, timer.signal);
        return isOpen;
      } catch (error) {
        if (error === OPENED) return true;
        throw error;
      } finally {
        waiting.delete(timer.abort);
      }
    },
  };
}
