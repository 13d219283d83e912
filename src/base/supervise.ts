/**
 * Keeps the background loops of the kubelet running. A loop that throws is logged, counted and started again after a back-off; one
 * that can't be kept running fails the health check. Every loop of `src/` runs here (`tools/check-loops.ts`), so none ends unnoticed.
 *
 *   pass ──went well──► rest ──due──► pass
 *     └──threw──► back-off ──► pass       the signal aborts: the end, and no failure
 */
import type { Clock } from './clock.ts';
import { describeError } from './errors.ts';
import type { Logger, LogValues } from './logger.ts';

export interface Loop {
  /** For the log, the metric and the health check: fixed words, the same for all loops of a kind. */
  readonly name: string;
  /** Which one of its kind, for the log. */
  readonly about?: LogValues;
  /** One loop for each pod, connection or object: one of them that fails does not make the whole kubelet unhealthy. */
  readonly oneOfMany?: boolean;
  /** The first pass, too, is waited for. After a failure none is: what the failed pass was woken for is still to be done. */
  readonly restFirst?: boolean;
  /** One round of work. What is expected to go wrong is handled inside; what it throws is a failure of the loop. */
  pass(signal: AbortSignal): Promise<void> | void;
  /** Resolves when the next pass is due. */
  rest(signal: AbortSignal): Promise<void>;
  /** Asked after each pass: whether there is nothing left to do. A loop without it ends only with its signal. */
  isDone?(): boolean;
}

export interface Supervisor {
  /** Runs the loop until the signal aborts or the loop is done. Never rejects. */
  run(loop: Loop, signal: AbortSignal): Promise<void>;
  /** Calls a listener. What it throws is logged and counted, and reaches no one else. Whether it went well. */
  guard(listener: string, about: LogValues, call: () => void): boolean;
  /** The same for a question: undefined where it threw. */
  value<T>(listener: string, about: LogValues, call: () => T): T | undefined;
  /** The names of the loops that run now. */
  loops(): readonly string[];
  /** Which loops can't be kept running, and why; undefined when all is well. */
  problem(): string | undefined;
}

export interface SupervisorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 to below 1. */
  readonly random: () => number;
  /** Called with each failure before the loop is started again: for metrics. */
  readonly onFailure?: ((loop: string) => void) | undefined;
  /** Called with each exception that a guard caught: for metrics. */
  readonly onGuarded?: ((listener: string) => void) | undefined;
  /** Called at the beginning of each round. A test makes a loop fail by throwing here. */
  readonly beforeRound?: ((loop: string) => void) | undefined;
  /** Called after each pass that went well. */
  readonly afterPass?: ((loop: string) => void) | undefined;
}

interface Running {
  readonly loop: Loop;
  /** In a row, without a pass that went well. */
  failures: number;
  error: unknown;
}

const FIRST_BACK_OFF_MS = 200;
const LONGEST_BACK_OFF_MS = 30_000;
/** So many failures in a row, which take about three seconds, are more than a passing trouble. */
const MOST_FAILURES = 5;

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { clock, log, random } = deps;
  const running = new Set<Running>();

  const rest = async ({ loop }: Running, signal: AbortSignal): Promise<void> => {
    if (!signal.aborted) await loop.rest(signal);
  };

  const pass = async (one: Running, signal: AbortSignal): Promise<void> => {
    await one.loop.pass(signal);
    deps.afterPass?.(one.loop.name);
    if (one.failures > 0) log.info('Loop recovered', { loop: one.loop.name, ...one.loop.about });
    one.failures = 0;
  };

  const backOff = async (one: Running, error: unknown, signal: AbortSignal): Promise<void> => {
    const { name, about } = one.loop;
    one.failures += 1;
    one.error = error;
    deps.onFailure?.(name);
    const longest = Math.min(FIRST_BACK_OFF_MS * 2 ** (one.failures - 1), LONGEST_BACK_OFF_MS);
    const retryInMs = Math.round(longest * (0.75 + random() / 4));
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('Loop failed, restarting it', {
      err: error,
      loop: name,
      ...about,
      failures: one.failures,
      retryInMs,
      stack,
    });
    await clock.sleep(retryInMs, signal).catch(() => undefined); // aborted: the loop ends
  };

  /** One pass and the wait after it. Whether the loop goes on. */
  const round = async (one: Running, isFirst: boolean, signal: AbortSignal): Promise<boolean> => {
    const { loop } = one;
    try {
      deps.beforeRound?.(loop.name);
      if (isFirst && loop.restFirst === true) await rest(one, signal);
      await pass(one, signal);
      if (loop.isDone?.() === true) return false;
      await rest(one, signal);
    } catch (error) {
      if (!signal.aborted) await backOff(one, error, signal);
    }
    return true;
  };

  const value: Supervisor['value'] = (listener, about, call) => {
    try {
      return call();
    } catch (error) {
      deps.onGuarded?.(listener);
      const stack = error instanceof Error ? error.stack : undefined;
      log.error('Listener failed', { err: error, listener, ...about, stack });
      return undefined;
    }
  };

  return {
    value,
    run: async (loop, signal) => {
      const one: Running = { loop, failures: 0, error: undefined };
      running.add(one);
      for (let isFirst = true, goesOn = true; goesOn && !signal.aborted; isFirst = false) {
        goesOn = await round(one, isFirst, signal);
      }
      running.delete(one);
    },
    guard: (listener, about, call) => {
      const done = value(listener, about, () => {
        call();
        return true;
      });
      return done === true;
    },
    loops: () => [...new Set([...running].map(({ loop }) => loop.name))].sort(),
    problem: () => computeProblem([...running]),
  };
}

/** Of many loops of a kind it takes more than half, and more than one: one bad object is that object's problem. */
function computeProblem(running: readonly Running[]): string | undefined {
  const failing = running.filter(({ failures }) => failures >= MOST_FAILURES);
  const isTrouble = ({ loop }: Running): boolean => {
    if (loop.oneOfMany !== true) return true;
    const count = (some: readonly Running[]) => some.filter((one) => one.loop.name === loop.name).length;
    return count(failing) >= 2 && count(failing) * 2 > count(running);
  };
  const troubles = new Map(failing.filter(isTrouble).map(({ loop, error }) => [loop.name, describeError(error)]));
  if (troubles.size === 0) return undefined;
  return [...troubles].map(([name, error]) => `loop ${JSON.stringify(name)} keeps failing: ${error}`).join('; ');
}
