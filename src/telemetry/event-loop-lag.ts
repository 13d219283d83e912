/** How late the event loop runs: a stall of this process looks like a failed probe or a slow runtime. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Part } from '../base/lifecycle.ts';

export interface EventLoopLag extends Part {
  /** Milliseconds since the last `reset`: the worst, and the one that 99 of 100 readings stayed below. */
  read(): { readonly max: number; readonly p99: number };
  reset(): void;
}

/** Each reading wakes the process: ten a second cost 0.1 % of a CPU and miss no stall that matters. */
const RESOLUTION_MS = 100;
const NANOSECONDS = 1e6;

export type DelayHistogram = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'enable' | 'disable' | 'reset' | 'max' | 'percentile'
>;

/** `monitor`: Node's own, which a test replaces. */
export function createEventLoopLag(
  monitor: (options: { readonly resolution: number }) => DelayHistogram = monitorEventLoopDelay,
): EventLoopLag {
  let histogram: DelayHistogram | undefined;
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS);
  return {
    name: 'event loop lag',
    start: () => {
      histogram = monitor({ resolution: RESOLUTION_MS });
      histogram.enable();
    },
    stop: () => void histogram?.disable(),
    read: () => ({ max: late(histogram?.max ?? 0), p99: late(histogram?.percentile(99) ?? 0) }),
    reset: () => histogram?.reset(),
  };
}
