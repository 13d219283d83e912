/** Starting and stopping as a program: parts come up in order, go down in reverse, each awaited, all under one deadline. */
import type { Clock } from './clock.ts';
import { CodedError } from './errors.ts';
import { linkSignal } from './signal.ts';

export interface Part {
  readonly name: string;
  /** Begins the work and resolves when it has begun. The signal aborts when the whole is stopping. */
  start(signal: AbortSignal): Promise<void> | void;
  /** Ends the work. Called only after `start` resolved, at most once. */
  stop?(): Promise<void> | void;
}

export interface Lifecycle {
  /** Rejects with the error of the first part that can't start, after the parts before it have been stopped. */
  start(): Promise<void>;
  /** Stops what was started. Names the parts that failed to stop or were still stopping at the deadline. */
  stop(reason: unknown): Promise<StopReport>;
  /** The part that is being started now, or undefined when all are up. */
  starting(): string | undefined;
}

export interface StopReport {
  readonly failed: readonly { readonly part: string; readonly error: unknown }[];
  /** The part that did not stop within the deadline, and those after it, which were not asked to stop. */
  readonly unfinished: readonly string[];
}

export interface LifecycleDeps {
  readonly clock: Clock;
  readonly stopWithinMs: number;
}

export function createLifecycle(parts: readonly Part[], deps: LifecycleDeps): Lifecycle {
  const running: Part[] = [];
  const stopping = new AbortController();
  let current: string | undefined = parts[0]?.name;
  let starting: Promise<void> = Promise.resolve();
  let stopped: Promise<StopReport> | undefined;

  const startAll = async () => {
    for (const part of parts) {
      current = part.name;
      stopping.signal.throwIfAborted();
      await part.start(stopping.signal);
      running.push(part);
    }
    stopping.signal.throwIfAborted();
    current = undefined;
  };

  const stop = (reason: unknown): Promise<StopReport> => {
    stopped ??= stopAll(reason);
    return stopped;
  };

  const stopAll = async (reason: unknown): Promise<StopReport> => {
    stopping.abort(reason);
    const failed: { part: string; error: unknown }[] = [];
    const asked = (async () => {
      // A part that is just starting either gives up now or is stopped with the others; who started it hears of its error.
      await starting.catch(() => undefined);
      for (let part = running.at(-1); part !== undefined; part = running.at(-1)) {
        try {
          await part.stop?.();
        } catch (error) {
          failed.push({ part: part.name, error });
        }
        running.pop();
      }
    })();
    using deadline = linkSignal();
    await Promise.race([
      asked.then(() => deadline.abort(new CodedError('internal', 'stopped in time'))),
      deps.clock.sleep(deps.stopWithinMs, deadline.signal).catch(() => undefined),
    ]);
    return { failed, unfinished: running.map((part) => part.name).reverse() };
  };

  return {
    start: async () => {
      starting = startAll();
      try {
        await starting;
      } catch (error) {
        await stop(error);
        throw error;
      }
    },
    stop,
    starting: () => current,
  };
}
