/** Looks at the logs of running containers every so often and rotates those that have grown too large, several at a time. */
import type { Clock } from '../../base/clock.ts';
import type { Part } from '../../base/lifecycle.ts';
import { localTime } from '../../base/local-time.ts';
import type { Logger } from '../../base/logger.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { keepLogSmall, type RotateDeps, type WrittenLog } from './rotate.ts';
import { logStamp } from './rules/log-names.ts';

export interface LogRotationDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly files: RotateDeps['files'];
  readonly reopen: RotateDeps['reopen'];
  /** The logs that running containers write now. */
  readonly written: () => readonly WrittenLog[];
}

export interface LogRotationConfig {
  readonly podLogs: string;
  /** Bytes; a negative size turns rotation off. */
  readonly maxSize: bigint;
  readonly maxFiles: number;
  readonly workers: number;
  readonly intervalMs: number;
}

export function createLogRotation(deps: LogRotationDeps, config: LogRotationConfig): Part {
  const { clock, log } = deps;
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

  const look = async (written: WrittenLog, signal: AbortSignal): Promise<void> => {
    try {
      await keepLogSmall(rotate, written, signal);
    } catch (error) {
      // The container may have ended, or its pod gone, since it was listed: that is its worker's business.
      const isThere = deps.written().some(({ containerId }) => containerId === written.containerId);
      if (!signal.aborted && isThere) log.warn('Could not rotate the log of a container', { err: error, ...written });
    }
  };

  const lookAtAll = async (signal: AbortSignal): Promise<void> => {
    const waiting = [...deps.written()];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
        await look(next, signal);
      }
    };
    await Promise.all(Array.from({ length: config.workers }, work));
  };

  return {
    name: 'log rotation',
    start: (signal) => {
      if (config.maxSize < 0n) return;
      const rest = () => clock.sleep(config.intervalMs, signal);
      running = deps.supervisor.run({ name: 'log rotation', pass: lookAtAll, rest }, signal);
    },
    stop: async () => {
      await running;
    },
  };
}
