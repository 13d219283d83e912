/** One request for all callers that need the same thing at the same time; it is cancelled only when all of them have left. */
import { linkSignal } from '../base/signal.ts';

export interface Shared<T> {
  run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly abort: (reason: unknown) => void;
  waiting: number;
}

export function createShared<T>(): Shared<T> {
  const running = new Map<string, Running<T>>();

  const begin = (key: string, work: (signal: AbortSignal) => Promise<T>): Running<T> => {
    const own = linkSignal();
    const begun: Running<T> = {
      result: work(own.signal).finally(() => {
        if (running.get(key) === begun) running.delete(key);
      }),
      abort: own.abort,
      waiting: 0,
    };
    // Waiting callers get the failure; when all have left, no one needs it.
    begun.result.catch(() => undefined);
    running.set(key, begun);
    return begun;
  };

  return {
    run: async (key, signal, work) => {
      signal.throwIfAborted();
      const shared = running.get(key) ?? begin(key, work);
      shared.waiting += 1;
      const gone = Promise.withResolvers<never>();
      const onAbort = () => gone.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await Promise.race([shared.result, gone.promise]);
      } finally {
        signal.removeEventListener('abort', onAbort);
        shared.waiting -= 1;
        if (shared.waiting === 0 && running.get(key) === shared) {
          running.delete(key);
          shared.abort(signal.reason ?? 'no one waits for it');
        }
      }
    },
  };
}
