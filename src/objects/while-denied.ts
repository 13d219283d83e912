/**
 * The API server lets a node read what its pods refer to, and learns of a new pod a moment after the node may have: a refusal
 * just then is not the last word.
 */
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';

const PAUSES_MS = [20, 40, 80, 160, 320];

export async function whileDenied<T>(clock: Clock, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'denied') throw error;
    }
    await clock.sleep(pause, signal);
  }
  return work();
}
