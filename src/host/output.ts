/**
 * An output stream (stderr, stdout) for whole lines, which is never lost and never stops the kubelet: as long as the reader keeps up,
 * a line is out when `write` returns; while a pipe or socket is full, lines wait in memory and go out when there is room.
 */

import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { hasErrno } from '../base/errno.ts';
import type { Readiness } from './event-loop.ts';
import type { Syscalls } from './syscalls.ts';

/** A reader that takes nothing at all for this long at the end is taken for gone: the process has promised to end within a second. */
const STALLED_MS = 900;
/** So long one wait counts at most: a machine that stood still for a second says nothing about the reader. */
const WAIT_MS = 50;
/** More than this is not kept for a reader who does not read; the loss is counted and told. */
const LONGEST_QUEUE = 8 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

export interface Output {
  write(lines: string): void;
  /** Returns when everything is out, or when the reader takes nothing for nearly a second. Blocks: only before the end. */
  flush(): void;
  /** For how many milliseconds lines have been waiting with none of them taken. */
  stalledMs(): number;
  close(): void;
}

export interface OutputDeps {
  readonly syscalls: Syscalls;
  readonly readiness: Readiness;
  readonly clock: Clock;
  /** Told when there is room again after so many writes had to be dropped. */
  readonly onLoss: (writes: number) => void;
}

/** What one attempt to write did: bytes taken (0: none just now), or no one will ever read. */
type Attempt = (bytes: Uint8Array) => number | 'gone';

export function createOutput(fd: number, deps: OutputDeps): Output {
  const target = openTarget(fd, deps.syscalls);
  let head: Buffer = NOTHING;
  let behind: Buffer[] = [];
  let queued = 0;
  let dropped = 0;
  let lastProgress = 0;
  let wait: { close(): void } | undefined;

  /** Writes as much as is taken now. */
  const drain = () => {
    while (queued > 0) {
      if (head.length === 0) {
        // One large write instead of one for each line that waited.
        head = behind.length === 1 && behind[0] !== undefined ? behind[0] : Buffer.concat(behind);
        behind = [];
      }
      const written = target.attempt(head);
      if (written === 0) return;
      const done = written === 'gone' ? head.length : written;
      head = head.subarray(done);
      queued -= done;
      lastProgress = deps.clock.mono();
    }
    head = NOTHING;
  };

  const tellLoss = () => {
    const lost = dropped;
    dropped = 0;
    if (lost > 0) deps.onLoss(lost);
  };

  const stopWaiting = () => {
    wait?.close();
    wait = undefined;
  };

  const drainOrWait = () => {
    drain();
    if (queued === 0) {
      stopWaiting();
      tellLoss();
    } else wait ??= deps.readiness.watch(target.fd, 'writable', drainOrWait);
  };

  return {
    write: (lines) => {
      if (queued > LONGEST_QUEUE) {
        dropped += 1;
        return;
      }
      const bytes = Buffer.from(lines);
      if (queued === 0) lastProgress = deps.clock.mono();
      behind.push(bytes);
      queued += bytes.length;
      // While the reader is behind, the event loop tells when to go on.
      if (wait === undefined) drainOrWait();
    },
    flush: () => {
      drain();
      for (let waited = 0; queued > 0 && waited < STALLED_MS; ) {
        const before = { queued, at: deps.clock.mono() };
        if (deps.syscalls.waitWritable(target.fd, WAIT_MS)) drain();
        // A signal ends a wait early; each counts for something, so that there is an end.
        const lasted = Math.min(Math.max(deps.clock.mono() - before.at, 1), WAIT_MS);
        waited = queued < before.queued ? 0 : waited + lasted;
      }
    },
    stalledMs: () => (queued === 0 ? 0 : deps.clock.mono() - lastProgress),
    close: () => {
      stopWaiting();
      target.close();
    },
  };
}

interface Target {
  readonly fd: number;
  readonly attempt: Attempt;
  close(): void;
}

/**
 * How to write without waiting, by kind. A pipe is opened once more, because the non-blocking mode belongs to the opened file, which
 * other processes share with us; a socket takes the request with each call; files and terminals are written as they are.
 */
function openTarget(fd: number, syscalls: Syscalls): Target {
  const stat = fstatSync(fd);
  if (stat.isSocket())
    return { fd, attempt: (bytes) => attempted(() => syscalls.sendNow(fd, bytes)), close: () => undefined };
  if (!stat.isFIFO()) return { fd, attempt: (bytes) => attempted(() => writeSync(fd, bytes)), close: () => undefined };
  const own = openOwnPipeEnd(fd);
  if (own !== undefined)
    return { fd: own, attempt: (bytes) => attempted(() => writeSync(own, bytes)), close: () => closeSync(own) };
  // Another user's pipe: a write of at most a page does not wait when there is room for it.
  const attempt: Attempt = (bytes) =>
    attempted(() => (syscalls.waitWritable(fd, 0) ? writeSync(fd, bytes, 0, Math.min(bytes.length, 4096)) : 0));
  return { fd, attempt, close: () => undefined };
}

function openOwnPipeEnd(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'EACCES', 'ENOENT', 'ENXIO')) return undefined;
    throw error;
  }
}

function attempted(write: () => number): number | 'gone' {
  try {
    return write();
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return 0;
    // EPIPE, EIO, ENOSPC and the like: a log that can't be written must not end the kubelet.
    return 'gone';
  }
}
