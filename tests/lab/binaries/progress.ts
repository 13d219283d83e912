/** What a person sees while a build runs: finished things as lines, the running one as a line that ticks. */
import type { Clock } from '../../../src/base/clock.ts';

export interface Progress {
  line(text: string): void;
  /** What is going on right now: replaces the previous status. */
  status(text: string): void;
}

export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where lines can't be rewritten (a log file, CI), the status is repeated this often. */
const MS_BETWEEN_STATUS_LINES = 30_000;
const CLEAR_LINE = '\r\u001b[K';

export function createProgress(output: ProgressOutput, clock: Pick<Clock, 'mono'>): Progress {
  return output.isTTY === true ? onTerminal(output) : onPlainOutput(output, clock);
}

function onTerminal(output: ProgressOutput): Progress {
  let shown = false;
  return {
    line: (text) => {
      output.write(`${shown ? CLEAR_LINE : ''}${text}\n`);
      shown = false;
    },
    status: (text) => {
      const width = Math.max(10, (output.columns ?? 80) - 1);
      output.write(`${CLEAR_LINE}${text.slice(0, width)}`);
      shown = true;
    },
  };
}

function onPlainOutput(output: ProgressOutput, clock: Pick<Clock, 'mono'>): Progress {
  let lastStatus = Number.NEGATIVE_INFINITY;
  return {
    line: (text) => {
      output.write(`${text}\n`);
      lastStatus = Number.NEGATIVE_INFINITY; // something ended, so the next status is news
    },
    status: (text) => {
      if (clock.mono() - lastStatus < MS_BETWEEN_STATUS_LINES) return;
      output.write(`${text}\n`);
      lastStatus = clock.mono();
    },
  };
}

/** Shows `status()` now and every second until disposed. */
export function ticking(progress: Progress, clock: Clock, status: () => string): Disposable {
  const stop = new AbortController();
  const tick = async () => {
    while (!stop.signal.aborted) {
      progress.status(status());
      await clock.sleep(1000, stop.signal);
    }
  };
  // The only thing that ends the loop by rejection is our own stop.
  tick().catch(() => undefined);
  return { [Symbol.dispose]: () => stop.abort() };
}

export function formatElapsed(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}
