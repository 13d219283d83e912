/** Writes to a standard stream of the process without waiting for its reader. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { hasErrno } from '../base/errno.ts';
import type { Syscalls } from './syscalls.ts';

/** What one attempt to write did: the bytes that were taken (0: none just now), or no one will ever read. */
type Attempt = (bytes: Uint8Array) => number | 'gone';

export interface OutputTarget {
  readonly fd: number;
  readonly attempt: Attempt;
  close(): void;
}

/**
 * How to write without waiting, by kind. A pipe is opened once more, because the non-blocking mode belongs to the opened file, which
 * other processes share with us; a socket takes the request with each call; files and terminals are written as they are.
 */
export function openOutputTarget(fd: number, syscalls: Syscalls): OutputTarget {
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
    // EPIPE, EIO, ENOSPC and the like: a log that cannot be written must not end the kubelet.
    return 'gone';
  }
}
