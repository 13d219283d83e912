/**
 * Whether the API server answers. While it does not and somebody waits for it, it is asked at short intervals, so that everything goes
 * on soon after it is back, however long each of them has backed off.
 */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';

export interface Reachability {
  /** A request was answered sensibly. */
  answered(): void;
  /** A request got no answer, or one that says that the server can't work. */
  failed(error: unknown): void;
  /** Resolves when an answer came after this was called; rejects with the signal's reason. */
  back(signal: AbortSignal): Promise<void>;
  subscribe(listener: () => void): () => void;
  stop(): void;
}

export interface ReachabilityDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly server: string;
  /** One question to the server; rejects where it does not work. */
  probe(signal: AbortSignal): Promise<void>;
}

const FIRST_PROBE_MS = 500;
const LONGEST_PROBE_MS = 3_000;

export function createReachability(deps: ReachabilityDeps): Reachability {
  const { clock, log, server } = deps;
  const closing = linkSignal();
  const waiters = new Set<() => void>();
  const listeners = new Set<() => void>();
  let failingSince: number | undefined;
  let probing = false;

  const answered = () => {
    for (const wake of [...waiters]) wake();
    if (failingSince === undefined) return;
    const seconds = Math.round((clock.mono() - failingSince) / 1000);
    failingSince = undefined;
    log.info('The API server answers again', { server, seconds });
    for (const listener of listeners) listener();
  };
  const probeWhileWanted = async () => {
    if (probing) return;
    probing = true;
    for (let wait = FIRST_PROBE_MS; waiters.size > 0 && !closing.signal.aborted; ) {
      await clock.sleep(wait * (0.75 + deps.random() / 4), closing.signal).catch(() => undefined);
      if (waiters.size === 0 || closing.signal.aborted) break;
      await deps.probe(closing.signal).then(answered, () => undefined); // it is known that it does not answer
      wait = Math.min(wait * 2, LONGEST_PROBE_MS);
    }
    probing = false;
  };
  return {
    answered,
    failed: (error) => {
      if (failingSince !== undefined) return;
      failingSince = clock.mono();
      log.warn('The API server does not answer', { server, err: describeError(error) });
    },
    back: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const onAbort = () => {
          waiters.delete(wake);
          reject(signal.reason);
        };
        const wake = () => {
          waiters.delete(wake);
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiters.add(wake);
        void probeWhileWanted();
      }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: () => closing.abort('stopped'),
  };
}
