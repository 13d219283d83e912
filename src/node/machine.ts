/** Parts that prepare the process and its machine before any pod is managed: limits, memory, the lock file, directories. */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Config } from '../config/config.ts';
import type { FileLock } from '../host/lock-file.ts';
import type { Host } from '../host/ports.ts';
import { refuseMachine } from './rules/machine.ts';

export interface MachineDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly host: Pick<Host, 'own' | 'machine'>;
}

/** Refuses a machine that a kubelet may not run on, and sets the limits of the process. */
export function createMachineCheck({ host, log }: MachineDeps, { kubelet }: Pick<Config, 'kubelet'>): Part {
  return {
    name: 'machine',
    start: () => {
      const refusal = refuseMachine(kubelet, { swapAreas: host.machine.swapAreas() });
      if (refusal !== undefined) throw new CodedError('unsupported', refusal);
      const files = host.own.raiseOpenFiles(BigInt(kubelet.maxOpenFiles));
      if (files.shortfall !== undefined) {
        log.warn('Failed to raise the limit of open files to maxOpenFiles', {
          request: kubelet.maxOpenFiles,
          limit: files.limit,
          reason: files.shortfall,
        });
      }
      const refused = host.own.setOomScore(kubelet.oomScoreAdj);
      if (refused !== undefined)
        log.warn('Failed to set own oomScoreAdj', { oomScoreAdj: kubelet.oomScoreAdj, err: refused });
    },
  };
}

/** When pages are released: after the start, and once more later. It costs a few milliseconds of page faults, so it is not periodic. */
const RELEASE_PAGES_AFTER_MS: readonly number[] = [10_000, 60_000, 600_000];

export function createMemoryRelease({ host, log, clock }: MachineDeps): Part {
  return {
    name: 'memory',
    start: (signal) => {
      const release = async () => {
        for (const delay of RELEASE_PAGES_AFTER_MS) {
          await clock.sleep(delay, signal);
          await host.own.releaseProgramPages();
        }
      };
      release().catch((err) => {
        if (!signal.aborted) log.warn('Failed to release pages of the program file', { err });
      });
    },
  };
}

/** Holds `--lock-file`. With `--exit-on-lock-contention`, `onContention` is called when another process opens or deletes it. */
export function createLock(
  { host, log, clock }: MachineDeps,
  { file, exitOnContention }: Config['settings']['lock'],
  onContention: (reason: string) => void,
): Part {
  let lock: FileLock | undefined;
  return {
    name: 'lock file',
    start: async (signal) => {
      if (file === '') return;
      log.info('Acquiring file lock', { path: file });
      const waiting = () => log.info('Waiting for the lock file, another process holds it', { path: file });
      lock = await host.own.acquireFileLock(file, clock, signal, waiting);
      if (!exitOnContention) return;
      log.info('Watching for inotify events', { path: file });
      lock.onContention((reason) => onContention(`lock file ${file} was ${reason}`));
    },
    stop: () => lock?.release(),
  };
}
