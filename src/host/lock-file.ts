/** `--lock-file`: a lock that `flock(1)` and other kubelets see, held until the process ends. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import { IN, type Inotify } from './inotify.ts';
import type { Syscalls } from './syscalls.ts';

/** No event reports a holder that unlocks without closing the file: the lock is tried again this often. */
const LOOK_AGAIN_MS = 1000;
/** The kernel reports the close shortly before it releases the lock. */
const JUST_CLOSED_MS = 5;

export interface LockFileDeps {
  readonly syscalls: Syscalls;
  readonly inotify: Inotify;
  readonly clock: Clock;
}

export interface FileLock {
  /** Calls `listener` once, when another process opens or deletes the file. */
  onContention(listener: (what: string) => void): void;
  release(): void;
}

/** Waits for the lock as long as the signal allows. `onWait` is called once if another process holds it. */
export async function acquireFileLock(
  path: string,
  deps: LockFileDeps,
  signal: AbortSignal,
  onWait: () => void,
): Promise<FileLock> {
  const fd = openLockFile(path);
  try {
    if (!deps.syscalls.tryLock(fd)) {
      onWait();
      await waitForLock(fd, path, deps, signal);
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  let watch: { close(): void } | undefined;
  return {
    onContention: (listener) => {
      // As long as we hold it open, a deleted file only changes its attributes: no one links to it any more.
      watch = deps.inotify.watch(path, IN.open | IN.attributes, ({ mask }) => {
        const opened = (mask & IN.open) !== 0;
        if (!opened && fstatSync(fd).nlink > 0) return;
        watch?.close();
        listener(opened ? 'opened by another process' : 'deleted');
      });
    },
    release: () => {
      watch?.close();
      closeSync(fd);
    },
  };
}

function openLockFile(path: string): number {
  try {
    return openSync(path, constants.O_CREAT | constants.O_RDWR, 0o600);
  } catch (error) {
    throw new CodedError('denied', `unable to acquire file lock on "${path}" (--lock-file): ${describeError(error)}`);
  }
}

async function waitForLock(fd: number, path: string, deps: LockFileDeps, signal: AbortSignal): Promise<void> {
  let onClose: (() => void) | undefined;
  const watch = deps.inotify.watch(path, IN.closeWrite | IN.closeNoWrite, () => onClose?.());
  try {
    while (!deps.syscalls.tryLock(fd)) {
      using nap = linkSignal(signal);
      let closed = false;
      onClose = () => {
        closed = true;
        nap.abort(new CodedError('conflict', 'another process closed the lock file'));
      };
      await deps.clock.sleep(LOOK_AGAIN_MS, nap.signal).catch(() => undefined);
      signal.throwIfAborted();
      if (closed) await deps.clock.sleep(JUST_CLOSED_MS, signal);
    }
  } finally {
    watch.close();
  }
}
