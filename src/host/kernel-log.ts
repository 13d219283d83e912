/** The kernel's log, followed by event: `/dev/kmsg` gives one record for each read, from the oldest that the kernel still has. */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { Readiness } from './event-loop.ts';

export interface KernelLogListener {
  /** One record as the kernel writes it: `6,48267,12888456733,-;text`. */
  onRecord(text: string): void;
  /** The kernel dropped records that were not read yet. */
  onGap(): void;
  /** Every record that there was has been read. */
  onDrained(): void;
  /** The log can't be read any more; it is closed. */
  onFailure(error: unknown): void;
}

/** Longer than the longest record of any kernel. */
const RECORD_BYTES = 8192;
/** About a millisecond; the rest is read on the next turn of the event loop. */
const RECORDS_IN_A_TURN = 256;

/** Throws where the log can't be opened: not every container may read it. */
export function followKernelLog(
  readiness: Readiness,
  listener: KernelLogListener,
  path = '/dev/kmsg',
): { close(): void } {
  const buffer = Buffer.allocUnsafeSlow(RECORD_BYTES);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let wait: { close(): void } | undefined;

  const close = (): void => {
    if (wait === undefined) return;
    wait.close();
    wait = undefined;
    closeSync(fd);
  };

  const readSome = (): void => {
    for (let count = 0; count < RECORDS_IN_A_TURN && wait !== undefined; count += 1) {
      const outcome = readOne(fd, buffer);
      if (outcome === 'empty') {
        listener.onDrained();
        return;
      }
      if (outcome === 'gap') listener.onGap();
      else listener.onRecord(outcome.text);
    }
  };

  const onReadable = (): void => {
    try {
      readSome();
    } catch (error) {
      close();
      listener.onFailure(error);
    }
  };
  wait = readiness.watch(fd, 'readable', onReadable);
  return { close };
}

function readOne(fd: number, buffer: Buffer): 'empty' | 'gap' | { readonly text: string } {
  try {
    const length = readSync(fd, buffer, 0, buffer.length, null);
    return length === 0 ? 'empty' : { text: buffer.toString('latin1', 0, length) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EAGAIN') return 'empty';
    // The kernel's ring buffer went round before the record was read; the next read gives the oldest that is left.
    if (code === 'EPIPE') return 'gap';
    throw error;
  }
}
