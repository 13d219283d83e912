/** File system events of Linux: one inotify descriptor for all watches of a kubelet, read when the event loop says there is something. */

import { closeSync, readSync } from 'node:fs';
import { hasErrno } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import type { Readiness } from './event-loop.ts';
import type { Syscalls } from './syscalls.ts';

/** Bits of an event, as the kernel numbers them. */
export const IN = {
  modify: 0x2,
  attributes: 0x4,
  closeWrite: 0x8,
  closeNoWrite: 0x10,
  open: 0x20,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  deleteSelf: 0x400,
  moveSelf: 0x800,
  /** Set by the kernel: events were lost, so look at everything again. Every watch gets it. */
  overflow: 0x4000,
  /** Set by the kernel: this watch is over (its file is gone, its file system unmounted). Every watch gets it. */
  ignored: 0x8000,
} as const;

const ALWAYS_REPORTED = IN.overflow | IN.ignored;
const MASK_ADD = 0x20000000;
const HEADER_BYTES = 16;
const BUFFER_BYTES = 16 * 1024;

export interface InotifyEvent {
  /** The bits of `IN` that apply. */
  readonly mask: number;
  /** The entry of a watched directory; empty when the watched path itself is meant. */
  readonly name: string;
}

export interface Inotify {
  /** Calls `listener` for each event of `path` in `mask` from now on. Throws a coded error where the path can't be watched. */
  watch(path: string, mask: number, listener: (event: InotifyEvent) => void): { close(): void };
  /** Ends all watches and closes the descriptor. */
  close(): void;
}

interface Watch {
  readonly mask: number;
  readonly listener: (event: InotifyEvent) => void;
}

export function createInotify(syscalls: Syscalls, readiness: Readiness): Inotify {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  // The kernel has one watch for each file: paths that lead to the same one share it.
  const watches = new Map<number, Set<Watch>>();
  let open: { readonly fd: number; readonly wait: { close(): void } } | undefined;

  const descriptor = (): number => {
    if (open === undefined) {
      const fd = syscalls.inotifyOpen();
      open = { fd, wait: readiness.watch(fd, 'readable', () => deliver(fd)) };
    }
    return open.fd;
  };

  const deliver = (fd: number) => {
    for (const { watch, event } of parseInotifyEvents(buffer.subarray(0, readAvailable(fd, buffer)))) {
      const concerned =
        event.mask & IN.overflow ? [...watches.values()].flatMap((set) => [...set]) : [...(watches.get(watch) ?? [])];
      if (event.mask & IN.ignored) watches.delete(watch);
      for (const one of concerned) if (event.mask & (one.mask | ALWAYS_REPORTED)) one.listener(event);
    }
  };

  const remove = (id: number, watch: Watch) => {
    const sharing = watches.get(id);
    if (!sharing?.delete(watch) || sharing.size > 0 || open === undefined) return;
    watches.delete(id);
    try {
      syscalls.inotifyRemove(open.fd, id);
    } catch (error) {
      // The file is gone and the watch with it; the kernel's word of that is still on its way.
      if (!(error instanceof CodedError && error.data['name'] === 'EINVAL')) throw error;
    }
  };

  return {
    watch: (path, mask, listener) => {
      const id = syscalls.inotifyAdd(descriptor(), path, (mask | MASK_ADD) >>> 0);
      const watch: Watch = { mask, listener };
      const sharing = watches.get(id);
      if (sharing === undefined) watches.set(id, new Set([watch]));
      else sharing.add(watch);
      return { close: () => remove(id, watch) };
    },
    close: () => {
      watches.clear();
      open?.wait.close();
      if (open !== undefined) closeSync(open.fd);
      open = undefined;
    },
  };
}

function readAvailable(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    // The last watch was closed between the wake-up and now: nothing to read.
    if (hasErrno(error, 'EAGAIN')) return 0;
    throw error;
  }
}

/** Splits what the kernel wrote: watch, mask, cookie, length of the name, and the name padded with zeros. */
export function* parseInotifyEvents(
  bytes: Buffer,
): Generator<{ readonly watch: number; readonly event: InotifyEvent }> {
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 12);
    const name = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    const end = name.indexOf(0);
    yield {
      watch: bytes.readInt32LE(at),
      event: { mask: bytes.readUInt32LE(at + 4), name: name.toString('utf8', 0, end < 0 ? name.length : end) },
    };
    at += HEADER_BYTES + length;
  }
}
