/** Opens the local API, again and again where that fails: a full disk or a broken file must not keep the pods of other sources from running. */
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';

export interface OpeningDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
}

export interface Opening {
  /** The first attempt is waited for, and no other. */
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** A part that starts when this is open: at once where it is, otherwise later. */
  after(name: string, part: Part): Part;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** `open`: whole or not at all; it is called again after it threw. */
export function createOpening(deps: OpeningDeps, open: (signal: AbortSignal) => Promise<void>): Opening {
  const { clock, log, supervisor } = deps;
  const waiting: (() => Promise<void>)[] = [];
  let isOpen = false;
  let wait = FIRST_RETRY_MS;
  let work: Promise<void> | undefined;

  const attempt = async (signal: AbortSignal): Promise<void> => {
    try {
      if (!isOpen) await open(signal);
      isOpen = true;
    } catch (err) {
      if (!signal.aborted) log.error('Failed to open the local API, will retry', { err, retryInMs: wait });
      return;
    }
    for (let start = waiting.shift(); start !== undefined; start = waiting.shift()) await start();
  };
  const rest = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(wait, signal);
    wait = Math.min(wait * 2, LONGEST_RETRY_MS);
  };
  return {
    start: async (signal) => {
      await attempt(signal);
      if (isOpen) return;
      const isDone = () => isOpen;
      work = supervisor.run({ name: 'local API open', restFirst: true, pass: attempt, rest, isDone }, signal);
    },
    stop: async () => await work,
    after: (name, part) => ({
      ...part,
      name,
      start: async (signal) => {
        if (isOpen) await part.start(signal);
        else waiting.push(async () => await part.start(signal));
      },
    }),
  };
}
