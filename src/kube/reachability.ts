/**
 * Knows whether the API server answers. While it does not and a caller waits for it, it is probed at short intervals, so that all callers
 * continue soon after the outage, however long their own back-off is.
 *
 * One failed request among successful ones is not an outage: otherwise callers that wait for its end would retry at every success.
 */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { createListeners } from '../base/listeners.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';

export interface Reachability {
  /** A request got an answer of a working server. */
  answered(): void;
  /** A request got no answer, or an error of the server itself. */
  failed(error: unknown): void;
  /** Resolves at the end of an outage; rejects with the signal's reason. */
  back(signal: AbortSignal): Promise<void>;
  /** Called at the end of every outage. The name is for the log. */
  subscribe(name: string, listener: () => void): () => void;
  stop(): void;
}

export interface ReachabilityDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly random: () => number;
  readonly server: string;
  /** Without a certificate nothing can answer: that is no news of the server. */
  readonly clientCertificate?: { isAwaited(): boolean } | undefined;
  /** One request to the server; rejects if it does not work. */
  probe(signal: AbortSignal): Promise<void>;
}

/** Only failures for this long are an outage. */
const OUTAGE_MS = 1_000;
const FIRST_PROBE_MS = 500;
const LONGEST_PROBE_MS = 3_000;

export function createReachability(deps: ReachabilityDeps): Reachability {
  const { clock, log, server, supervisor } = deps;
  const closing = linkSignal();
  const waiters = new Set<() => void>();
  const listeners = createListeners<string>({ supervisor, clock, keyOf: () => server, about: () => ({ server }) });
  let failingSince: number | undefined;
  let isLogged = false;
  let probing = false;

  const answered = () => {
    if (failingSince === undefined) return;
    const lastedMs = clock.mono() - failingSince;
    failingSince = undefined;
    if (lastedMs < OUTAGE_MS) return;
    if (isLogged) log.info('The API server answers again', { server, afterSeconds: Math.round(lastedMs / 1000) });
    isLogged = false;
    for (const wake of [...waiters]) wake();
    listeners.notify(server);
  };
  const isNeeded = () => waiters.size > 0 && failingSince !== undefined && !closing.signal.aborted;
  const probeWhileNeeded = async () => {
    if (probing || !isNeeded()) return;
    probing = true;
    let wait = FIRST_PROBE_MS;
    const rest = async (): Promise<void> => {
      await clock.sleep(wait * (0.75 + deps.random() / 4), closing.signal);
      wait = Math.min(wait * 2, LONGEST_PROBE_MS);
    };
    const pass = async (): Promise<void> => {
      if (isNeeded()) await deps.probe(closing.signal).then(answered, () => undefined); // its failure is known already
    };
    const loop = { name: 'API server probe', restFirst: true, pass, rest, isDone: () => !isNeeded() };
    await supervisor.run(loop, closing.signal);
    probing = false;
  };
  return {
    answered,
    failed: (error) => {
      failingSince ??= clock.mono();
      const isNews = !isLogged && deps.clientCertificate?.isAwaited() !== true;
      if (isNews && clock.mono() - failingSince >= OUTAGE_MS) {
        isLogged = true;
        log.warn('The API server does not answer', { server, err: describeError(error) });
      }
      void probeWhileNeeded();
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
        void probeWhileNeeded();
      }),
    subscribe: listeners.add,
    stop: () => {
      listeners.stop();
      closing.abort('stopped');
    },
  };
}
