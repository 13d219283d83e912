/**
 * An output stream (stderr, stdout) for whole lines that never stops the kubelet: as long as the reader keeps up, a line is out when `write` returns; while a
 * pipe or socket is full, lines wait in memory and go out when there is room.
 */
import type { Clock } from '../base/clock.ts';
import type { Readiness } from './event-loop.ts';
import { createOutputQueue } from './output-queue.ts';
import { openOutputTarget } from './output-target.ts';
import type { Syscalls } from './syscalls.ts';

/** A reader that takes nothing at all for this long at the end counts as gone: the process has promised to end within a second. */
const STALLED_MS = 900;
/** One wait counts for this long at most: a machine that stood still for a second says nothing about the reader. */
const WAIT_MS = 50;
/** More than this is not kept for a reader that does not read; the loss is counted and reported. */
const LONGEST_QUEUE = 8 * 1024 * 1024;

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
  /** Called when there is room again after so many writes had to be dropped. */
  readonly onLoss: (writes: number) => void;
}

export function createOutput(fd: number, deps: OutputDeps): Output {
  const { clock, syscalls, readiness, onLoss } = deps;
  const target = openOutputTarget(fd, syscalls);
  const queue = createOutputQueue();
  let dropped = 0;
  let lastProgress = 0;
  let wait: { close(): void } | undefined;

  /** Writes as much as is taken now. */
  const drain = () => {
    while (queue.bytes() > 0) {
      const bytes = queue.next();
      const written = target.attempt(bytes);
      if (written === 0) return;
      queue.written(written === 'gone' ? bytes.length : written);
      lastProgress = clock.mono();
    }
  };

  const reportLoss = () => {
    const lost = dropped;
    dropped = 0;
    if (lost > 0) onLoss(lost);
  };

  const stopWaiting = () => {
    wait?.close();
    wait = undefined;
  };

  const drainOrWait = () => {
    drain();
    if (queue.bytes() === 0) {
      stopWaiting();
      reportLoss();
    } else wait ??= readiness.watch(target.fd, 'writable', drainOrWait);
  };

  return {
    write: (lines) => {
      if (queue.bytes() > LONGEST_QUEUE) {
        dropped += 1;
        return;
      }
      if (queue.bytes() === 0) lastProgress = clock.mono();
      queue.add(Buffer.from(lines));
      // While the reader is behind, the event loop reports when there is room.
      if (wait === undefined) drainOrWait();
    },
    flush: () => {
      drain();
      for (let waited = 0; queue.bytes() > 0 && waited < STALLED_MS; ) {
        const before = { bytes: queue.bytes(), at: clock.mono() };
        if (syscalls.waitWritable(target.fd, WAIT_MS)) drain();
        // A signal ends a wait early; each counts for something, so that there is an end.
        const lasted = Math.min(Math.max(clock.mono() - before.at, 1), WAIT_MS);
        waited = queue.bytes() < before.bytes ? 0 : waited + lasted;
      }
    },
    stalledMs: () => (queue.bytes() === 0 ? 0 : clock.mono() - lastProgress),
    close: () => {
      stopWaiting();
      target.close();
    },
  };
}
