/**
 * Notices when this process did not get to run: the event loop was busy, or the machine gave it no time. A check that was under way
 * then may have failed for this reason alone. It watches only while a check is under way; most checks are over before its first
 * beat, so watching costs next to nothing.
 */
import type { Clock } from '../base/clock.ts';

export interface StallWatch {
  /** Watches until disposed. */
  begin(): StallWatching;
}

export interface StallWatching extends Disposable {
  /** There was a stall since `begin`, or there is one just ending. */
  stalled(): boolean;
}

const BEAT_MS = 50;
/** Shorter ones are common, and far shorter than any timeout. */
export const STALL_MS = 200;

const OVER = 'no one watches';

export function createStallWatch(clock: Clock): StallWatch {
  let watchers = 0;
  let lastStall = Number.NEGATIVE_INFINITY;
  let beatDue = 0;
  let beating: AbortController | undefined;

  const beat = (): void => {
    const own = new AbortController();
    beating = own;
    beatDue = clock.mono() + BEAT_MS;
    clock.sleep(BEAT_MS, own.signal).then(
      () => {
        noteLateness();
        beat();
      },
      () => undefined, // no one watches any more
    );
  };
  const noteLateness = (): void => {
    const now = clock.mono();
    if (watchers === 0 || now - beatDue < STALL_MS) return;
    lastStall = now;
    // The late beat that is still to come belongs to the same stall.
    beatDue = now;
  };

  return {
    begin: () => {
      noteLateness();
      const began = clock.mono();
      watchers += 1;
      if (watchers === 1) beat();
      let watching = true;
      return {
        stalled: () => {
          // The beat itself may still be waiting for the event loop.
          noteLateness();
          return lastStall > began;
        },
        [Symbol.dispose]: () => {
          if (!watching) return;
          watching = false;
          watchers -= 1;
          if (watchers === 0) beating?.abort(OVER);
        },
      };
    },
  };
}
