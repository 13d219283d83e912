import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';

/** Longer than this at a stretch, and probes and timers of others would notice. */
const SLICE_MS = 8;

/** Runs the steps to their end and lets the event loop turn in between. */
export async function readInSteps<T>(steps: Generator<undefined, T>, clock: Clock, signal: AbortSignal): Promise<T> {
  let sliceEnd = clock.mono() + SLICE_MS;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (clock.mono() < sliceEnd) continue;
    await setImmediate();
    signal.throwIfAborted();
    sliceEnd = clock.mono() + SLICE_MS;
  }
}
