/**
 * Finds directories of pods that no longer exist, while the kubelet runs. They are not removed here: a worker ends such a pod like every
 * other one, and leaves the directory alone as long as something is mounted below it.
 */
import type { PodUid } from '../api/ids.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import { countSweep, FIRST_SWEEP, nextSweep, type SweepCounts, sweepDirectories } from './rules/orphans.ts';

/** What the sweep needs to know about pods. */
export interface PodDirectoriesPort {
  /** The names below `pods/`. */
  list(): Promise<readonly string[]>;
  /** UIDs of all pods that sources have or that are managed; undefined before every source was heard. */
  known(): ReadonlySet<string> | undefined;
  /** These pods exist only on disk. */
  onOrphans(uids: readonly PodUid[]): void;
}

export interface OrphanSweep {
  start(signal: AbortSignal): void;
  /** A pod is gone: its directory should be, too. */
  noticed(): void;
  counts(): SweepCounts;
}

export interface OrphanSweepDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
}

const SLOW_MS = 60_000;
const CONFIRM_MS = 10_000;
const NO_ORPHANS: SweepCounts = { orphans: 0, failed: 0 };

export function createOrphanSweep({ clock, log, supervisor }: OrphanSweepDeps, pods: PodDirectoriesPort): OrphanSweep {
  const bit = createWakeBit();
  const alarm = createAlarm(clock, bit.wake);
  let state = FIRST_SWEEP;
  let counts = NO_ORPHANS;
  let stopping: AbortSignal | undefined;

  const pass = async (signal: AbortSignal): Promise<void> => {
    const known = pods.known();
    if (known === undefined) {
      alarm.ringAt(clock.now() + CONFIRM_MS);
      return;
    }
    const sweep = sweepDirectories(state, { directories: await pods.list(), known });
    signal.throwIfAborted();
    state = sweep.state;
    counts = countSweep(sweep);
    for (const podUID of sweep.orphans) log.v(3)?.info('Orphaned pod found, removing', { podUID });
    for (const podUID of sweep.left) {
      log.v(3)?.info('Orphaned pod found, but volumes are not cleaned up', { podUID });
    }
    if (sweep.orphans.length > 0) pods.onOrphans(sweep.orphans);
    alarm.ringAt(clock.now() + nextSweep(sweep, { confirmMs: CONFIRM_MS, slowMs: SLOW_MS }));
  };

  return {
    start: (signal) => {
      stopping = signal;
      signal.addEventListener('abort', alarm.clear, { once: true });
      alarm.ringAt(clock.now() + SLOW_MS);
      void supervisor.run({ name: 'orphaned pod directories', restFirst: true, pass, rest: bit.wait }, signal);
    },
    noticed: () => {
      if (stopping?.aborted === false) alarm.ringAt(clock.now() + CONFIRM_MS);
    },
    counts: () => counts,
  };
}
