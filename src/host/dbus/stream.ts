/** A stream to a Unix socket that brings file descriptors along, which Node's own sockets drop. */
import { closeSync } from 'node:fs';
import { CodedError } from '../../base/errors.ts';
import type { Readiness } from '../event-loop.ts';
import type { Syscalls } from '../syscalls.ts';

export interface ByteStream {
  write(bytes: Buffer): void;
  close(): void;
}

export interface StreamListener {
  onBytes(bytes: Buffer, fds: readonly number[]): void;
  /** Once, and not after `close`. */
  onEnd(error: CodedError): void;
}

export type OpenStream = (path: string, listener: StreamListener) => ByteStream;

const CHUNK_BYTES = 64 * 1024;
/** A peer that takes nothing must not fill our memory. */
const MOST_QUEUED_BYTES = 16 * 1024 * 1024;

export function createOpenStream(syscalls: Syscalls, readiness: Readiness): OpenStream {
  return (path, listener) => {
    const fd = syscalls.connectStream(path);
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    let queue: Buffer = Buffer.alloc(0);
    let open = true;

    const close = () => {
      if (!open) return;
      open = false;
      watch.close();
      closeSync(fd);
    };
    const fail = (error: unknown) => {
      if (!open) return;
      close();
      listener.onEnd(new CodedError('unavailable', `the connection to ${path} ended`, { cause: error }));
    };
    const read = () => {
      const received = syscalls.receive(fd, chunk);
      if (received === undefined) return;
      if (received.bytes === 0) fail(undefined);
      else listener.onBytes(Buffer.from(chunk.subarray(0, received.bytes)), received.fds);
    };
    const flush = () => {
      for (let sent = 1; queue.length > 0 && sent > 0; queue = queue.subarray(sent)) sent = syscalls.sendNow(fd, queue);
    };
    const guarded = (work: () => void) => {
      try {
        if (open) work();
      } catch (error) {
        fail(error);
      }
    };
    let watched: 'readable' | 'either' = 'readable';
    const onReady = () => {
      guarded(read);
      guarded(flush);
      rewatch();
    };
    let watch = readiness.watch(fd, watched, onReady);
    /** A socket that takes nothing just now is waited for, one that has nothing to take is not. */
    const rewatch = () => {
      const needed = queue.length > 0 ? 'either' : 'readable';
      if (!open || needed === watched) return;
      watched = needed;
      watch.close();
      watch = readiness.watch(fd, needed, onReady);
    };

    return {
      close,
      write: (bytes) => {
        if (!open) throw new CodedError('unavailable', `the connection to ${path} is closed`);
        if (queue.length + bytes.length > MOST_QUEUED_BYTES) {
          throw new CodedError('unavailable', `${path} takes no more requests`);
        }
        queue = queue.length === 0 ? bytes : Buffer.concat([queue, bytes]);
        guarded(flush);
        rewatch();
      },
    };
  };
}
