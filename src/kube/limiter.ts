/** Limits the rate of requests. Urgent ones go first; reads and writes go before requests that begin a watch. */
import type { Clock } from '../base/clock.ts';
import { type BucketSize, createTokenBucket } from '../base/token-bucket.ts';

export type Urgency = 'urgent' | 'request' | 'watch';

export interface Limiter {
  /** Resolves when the request may be sent; rejects with the signal's reason. */
  pass(urgency: Urgency, signal: AbortSignal): Promise<void>;
}

interface Waiter {
  readonly pass: () => void;
}

export function createLimiter(size: BucketSize, clock: Clock): Limiter {
  const bucket = createTokenBucket(size, clock.mono());
  const waiting = { urgent: new Set<Waiter>(), request: new Set<Waiter>(), watch: new Set<Waiter>() };
  // Never aborted: the timer is short, and there is none while no request waits.
  const { signal: never } = new AbortController();
  let timed = false;

  const next = (): Waiter | undefined => {
    for (const queue of [waiting.urgent, waiting.request, waiting.watch]) {
      const [first] = queue;
      if (first !== undefined) return first;
    }
    return undefined;
  };
  const serve = () => {
    for (let waiter = next(); waiter !== undefined && bucket.take(clock.mono()); waiter = next()) waiter.pass();
    if (timed || next() === undefined) return;
    timed = true;
    void clock.sleep(Math.max(bucket.waitMs(clock.mono()), 1), never).then(() => {
      timed = false;
      serve();
    });
  };
  return {
    pass: (urgency, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const queue = waiting[urgency];
        const onAbort = () => {
          queue.delete(waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          pass: () => {
            queue.delete(waiter);
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.add(waiter);
        serve();
      }),
  };
}

export function createOpenLimiter(): Limiter {
  return { pass: (_urgency, signal) => (signal.aborted ? Promise.reject(signal.reason) : Promise.resolve()) };
}
