/** Looks at the logs of running containers every so often and rotates those that have grown too large, several at a time. */
import type { Clock } from '../../base/clock.ts';
import type { Part } from '../../base/lifecycle.ts';
import { localTime } from '../../base/local-time.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { keepLogSmall, type RotateDeps, type WrittenLog } from './rotate.ts';
import { logStamp } from './rules/log-names.ts';
import { writtenLogs } from './rules/rotation.ts';
import { shrinkLog } from './trim.ts';

export interface LogRotationDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly files: RotateDeps['files'];
  readonly reopen: RotateDeps['reopen'];
  /** Every container that is known of. */
  readonly containers: () => readonly Pick<ObservedContainer, 'id' | 'state' | 'logPath'>[];
}

export interface LogRotationConfig {
  readonly podLogs: string;
  /** Bytes; a negative size turns rotation off. */
  readonly maxSize: bigint;
  readonly maxFiles: number;
  readonly workers: number;
  readonly intervalMs: number;
}

export interface LogRotation extends Part {
  /** Does it at once, on a node that is short of disk, and cuts what was written faster than it could be rotated. */
  shrinkNow(signal: AbortSignal): Promise<void>;
}

export function createLogRotation(deps: LogRotationDeps, config: LogRotationConfig): LogRotation {
  const { clock, log } = deps;
  const written = () => writtenLogs(deps.containers());
  const rotate: RotateDeps = {
    log,
    files: deps.files,
    reopen: deps.reopen,
    stamp: () => logStamp(localTime(clock.now())),
    podLogs: config.podLogs,
    maxSize: config.maxSize,
    maxFiles: config.maxFiles,
  };
  let running: Promise<unknown> = Promise.resolve();

  const look = async (keepSmall: typeof keepLogSmall, one: WrittenLog, signal: AbortSignal): Promise<void> => {
    try {
      await keepSmall(rotate, one, signal);
    } catch (error) {
      // The container may have ended, or its pod gone, since it was listed: that is its worker's business.
      const isThere = written().some(({ containerId }) => containerId === one.containerId);
      if (!signal.aborted && isThere) log.warn('Failed to rotate log for container', { err: error, ...one });
    }
  };

  const lookAtAll = async (keepSmall: typeof keepLogSmall, signal: AbortSignal): Promise<void> => {
    const waiting = [...written()];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        await look(keepSmall, next, signal);
      }
    };
    await Promise.all(Array.from({ length: config.workers }, work));
  };

  return {
    name: 'log rotation',
    start: (signal) => {
      if (config.maxSize < 0n) return;
      const rest = () => clock.sleep(config.intervalMs, signal);
      const pass = (current: AbortSignal) => lookAtAll(keepLogSmall, current);
      running = deps.supervisor.run({ name: 'log rotation', pass, rest }, signal);
    },
    stop: async () => {
      await running;
    },
    shrinkNow: async (signal) => {
      if (config.maxSize >= 0n) await lookAtAll(shrinkLog, signal);
    },
  };
}
