/** How late the event loop runs: a stall of ours looks like a failed probe or a slow runtime, so it is measured from the first day. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Part } from '../base/lifecycle.ts';

export interface EventLoopLag extends Part {
  /** Milliseconds since the last `reset`: the worst, and the one that 99 of 100 readings stayed below. */
  read(): { readonly max: number; readonly p99: number };
  reset(): void;
}

/** Each reading wakes the process: ten a second cost a tenth of a percent of a processor and miss no stall that anybody would feel. */
const RESOLUTION_MS = 100;
const NANOSECONDS = 1e6;

export function createEventLoopLag(): EventLoopLag {
  let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS);
  return {
    name: 'event loop lag',
    start: () => {
      histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      histogram.enable();
    },
    stop: () => void histogram?.disable(),
    read: () => ({ max: late(histogram?.max ?? 0), p99: late(histogram?.percentile(99) ?? 0) }),
    reset: () => histogram?.reset(),
  };
}
