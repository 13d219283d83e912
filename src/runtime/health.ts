/** Whether the container runtime answers: logged when that changes, and part of the kubelet's health. */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';

export interface RuntimeHealthDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly endpoint: string;
  readonly version: (signal: AbortSignal) => Promise<{ readonly runtimeName: string; readonly runtimeVersion: string }>;
}

export interface RuntimeHealth extends Part {
  /** Asks the runtime now. Undefined when it answers, else why not. */
  check(signal: AbortSignal): Promise<string | undefined>;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

export function createRuntimeHealth(deps: RuntimeHealthDeps): RuntimeHealth {
  const { clock, log, endpoint } = deps;
  let known: 'unknown' | 'up' | 'down' = 'unknown';
  let waiting: Promise<void> = Promise.resolve();

  const check = async (signal: AbortSignal): Promise<string | undefined> => {
    try {
      const { runtimeName, runtimeVersion } = await deps.version(signal);
      if (known !== 'up') log.info('Container runtime answers', { endpoint, runtimeName, runtimeVersion });
      known = 'up';
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      if (known !== 'down') log.error('Container runtime does not answer', { err: error, endpoint });
      known = 'down';
      return `container runtime at ${endpoint} does not answer: ${describeError(error)}`;
    }
  };

  const untilUp = (signal: AbortSignal): Promise<void> => {
    let wait = FIRST_RETRY_MS;
    const pass = async (): Promise<void> => {
      await check(signal);
    };
    const rest = async (): Promise<void> => {
      await clock.sleep(wait, signal);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    };
    return deps.supervisor.run({ name: 'runtime start', pass, rest, isDone: () => known === 'up' }, signal);
  };

  return {
    name: 'container runtime',
    // Not awaited: a kubelet that waits for its runtime must already answer to those who ask what it waits for.
    start: (signal) => {
      waiting = untilUp(signal);
    },
    stop: () => waiting,
    check,
  };
}
