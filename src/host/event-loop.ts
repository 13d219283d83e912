/**
 * Waiting for any file descriptor on Node's own event loop. Node offers that only for sockets, pipes and terminals; libuv, which is
 * part of the Node binary, does it for everything that `epoll` takes. So an inotify descriptor costs no thread and no polling.
 */
import { dlopen, getCurrentEventLoop, getRawPointer } from 'node:ffi';
import { CodedError } from '../base/errors.ts';

const UV_POLL = 8;
const EVENTS = { readable: 1, writable: 2 } as const;

export interface Readiness {
  /**
   * Calls `listener` on a turn of the event loop of its own whenever the descriptor is ready, and again until it has been read or
   * filled. Does not keep the process alive. The descriptor stays the caller's, to be closed after `close`.
   */
  watch(fd: number, what: keyof typeof EVENTS, listener: () => void): { close(): void };
}

const SIGNATURES = {
  uv_handle_size: { arguments: ['i32'], return: 'u64' },
  uv_poll_init: { arguments: ['pointer', 'pointer', 'i32'], return: 'i32' },
  uv_poll_start: { arguments: ['pointer', 'i32', 'pointer'], return: 'i32' },
  uv_unref: { arguments: ['pointer'], return: 'void' },
  uv_close: { arguments: ['pointer', 'pointer'], return: 'void' },
} as const;

interface Handle {
  /** libuv's memory: must live until libuv says that the handle is closed. */
  readonly memory: Buffer;
  readonly listener: () => void;
  closing: boolean;
}

export function createReadiness(): Readiness {
  const { lib, functions: uv } = dlopen(null, SIGNATURES);
  const size = Number(uv.uv_handle_size(UV_POLL));
  const handles = new Map<bigint, Handle>();

  // Native callbacks run in the middle of libuv's turn: nothing of ours may throw there, and promises are not run after it. So
  // they only arrange for the listener to be called from the phase that follows.
  const onReady = lib.registerCallback(
    { arguments: ['pointer', 'i32', 'i32'], return: 'void' },
    (pointer) => void setImmediate(callListener, asPointer(pointer)),
  );
  const onClosed = lib.registerCallback(
    { arguments: ['pointer'], return: 'void' },
    (pointer) => void handles.delete(asPointer(pointer)),
  );
  const callListener = (pointer: bigint) => {
    const handle = handles.get(pointer);
    if (handle !== undefined && !handle.closing) handle.listener();
  };

  return {
    watch: (fd, what, listener) => {
      const handle: Handle = { memory: Buffer.allocUnsafeSlow(size), listener, closing: false };
      const pointer = getRawPointer(handle.memory);
      const made = uv.uv_poll_init(getCurrentEventLoop(), pointer, fd);
      if (made < 0) throw new CodedError('unsupported', `cannot wait for descriptor ${fd}: libuv error ${made}`);
      handles.set(pointer, handle);
      uv.uv_unref(pointer);
      uv.uv_poll_start(pointer, EVENTS[what], onReady);
      return {
        close: () => {
          if (handle.closing) return;
          handle.closing = true;
          uv.uv_close(pointer, onClosed);
        },
      };
    },
  };
}

function asPointer(value: unknown): bigint {
  if (typeof value !== 'bigint') throw new TypeError(`a native callback got ${typeof value} for a pointer`);
  return value;
}
