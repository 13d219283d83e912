/**
 * Decides again for every pod once in `syncFrequency`, although nothing has announced a change: one pod after the other, so that the work is spread
 * over the whole time. What announces changes is much faster; this finds what was never announced.
 */
import type { Clock } from '../base/clock.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Worker } from './worker.ts';

export interface ResyncDeps {
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'run'>;
  readonly workers: () => readonly Pick<Worker, 'uid' | 'wake'>[];
}

/** Resolves when the signal aborts. */
export function runResync(
  { clock, supervisor, workers }: ResyncDeps,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  /** Those that are still to come in this round. */
  let left: readonly string[] = [];
  const pass = (): void => {
    const now = new Map(workers().map((worker) => [String(worker.uid), worker]));
    if (left.length === 0) left = [...now.keys()];
    const [next = '', ...rest] = left;
    left = rest;
    now.get(next)?.wake('resync');
  };
  const rest = (stop: AbortSignal): Promise<void> => clock.sleep(everyMs / Math.max(workers().length, 1), stop);
  return supervisor.run({ name: 'pod resync', restFirst: true, pass, rest }, signal);
}
