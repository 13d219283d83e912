/**
 * The queue of token reviews for unknown tokens. Few run at once, so that unauthenticated callers with invented tokens load neither
 * the API server nor this process, and the queue is fair: an address with fewer waiting goes first, so one can't delay the others.
 */
import { CodedError } from '../../base/errors.ts';
import { createTurns } from '../../base/turns.ts';
import { addressGroup } from '../rules/address-group.ts';

export interface ReviewQueue {
  /** Resolves when the review may start; dispose it when the review is over. Rejects with `exhausted` if too many wait. */
  take(from: string, signal: AbortSignal): Promise<Disposable>;
}

const AT_ONCE = 16;
const MOST_PENDING = 256;
/** Waiting or under way. */
const MOST_PENDING_OF_ADDRESS = 32;

export function createReviewQueue(): ReviewQueue {
  const turns = createTurns(AT_ONCE);
  const pending = new Map<string, number>();
  let total = 0;
  const add = (group: string, by: 1 | -1) => {
    const count = (pending.get(group) ?? 0) + by;
    if (count === 0) pending.delete(group);
    else pending.set(group, count);
    total += by;
  };
  return {
    take: async (from, signal) => {
      const group = addressGroup(from);
      const before = pending.get(group) ?? 0;
      if (before >= MOST_PENDING_OF_ADDRESS || total >= MOST_PENDING)
        throw new CodedError('exhausted', 'too many tokens are waiting for a review');
      add(group, 1);
      try {
        const turn = await turns.take([before], signal);
        return {
          [Symbol.dispose]: () => {
            add(group, -1);
            turn[Symbol.dispose]();
          },
        };
      } catch (error) {
        add(group, -1);
        throw error;
      }
    },
  };
}
