/**
 * Waiting for any file descriptor on Node's own event loop. Node offers that only for sockets, pipes and terminals; libuv, which is
 * part of the Node binary, does it for everything that `epoll` takes. So an inotify descriptor costs no thread and no polling.
 */
import { dlopen, getCurrentEventLoop } from 'node:ffi';
// The end of the process is part of the event loop's life: the one thing of `process` that this directory needs.
import wholeProcess from 'node:process';
import { CodedError } from '../base/errors.ts';

const UV_POLL = 8;
const EVENTS = { readable: 1, writable: 2, either: 3, urgent: 8 } as const;

export interface Readiness {
  /**
   * Calls `listener` on a turn of the event loop of its own whenever the descriptor is ready, and again until it has been read or
   * filled. Does not keep the process alive. The descriptor stays the caller's, to be closed after `close`. One watch for each descriptor.
   */
  watch(fd: number, what: keyof typeof EVENTS, listener: () => void): { close(): void };
}

const SIGNATURES = {
  malloc: { arguments: ['u64'], return: 'pointer' },
  uv_handle_size: { arguments: ['i32'], return: 'u64' },
  uv_poll_init: { arguments: ['pointer', 'pointer', 'i32'], return: 'i32' },
  uv_poll_start: { arguments: ['pointer', 'i32', 'pointer'], return: 'i32' },
  uv_poll_stop: { arguments: ['pointer'], return: 'i32' },
  uv_unref: { arguments: ['pointer'], return: 'void' },
  uv_close: { arguments: ['pointer', 'pointer'], return: 'void' },
} as const;

export function createReadiness(): Readiness {
  const { lib, functions: uv } = dlopen(null, SIGNATURES);
  // libuv lets go of a handle some time after it was closed, and calls this with it.
  const free = lib.getSymbol('free');
  const listeners = new Map<bigint, () => void>();

  // Native callbacks run in the middle of libuv's turn: nothing of ours may throw there, and promises are not run after it. So
  // this only arranges for the listener to be called from the phase that follows.
  const onReady = lib.registerCallback(
    { arguments: ['pointer', 'i32', 'i32'], return: 'void' },
    (handle) => void setImmediate(callListener, handle),
  );
  const callListener = (handle: unknown) => {
    if (typeof handle === 'bigint') listeners.get(handle)?.();
  };
  // After the exit event no JavaScript may run, but libuv still turns once more: a callback then would abort the process.
  const silence = () => {
    for (const handle of listeners.keys()) uv.uv_poll_stop(handle);
  };

  const close = (handle: bigint) => {
    if (!listeners.delete(handle)) return;
    if (listeners.size === 0) wholeProcess.removeListener('exit', silence);
    uv.uv_poll_stop(handle);
    uv.uv_close(handle, free);
  };

  return {
    watch: (fd, what, listener) => {
      const handle = uv.malloc(uv.uv_handle_size(UV_POLL));
      const made = uv.uv_poll_init(getCurrentEventLoop(), handle, fd);
      if (made < 0) throw new CodedError('unsupported', `cannot wait for descriptor ${fd}: libuv error ${made}`);
      if (listeners.size === 0) wholeProcess.once('exit', silence);
      listeners.set(handle, listener);
      uv.uv_unref(handle);
      uv.uv_poll_start(handle, EVENTS[what], onReady);
      return { close: () => close(handle) };
    },
  };
}
