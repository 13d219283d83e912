/**
 * A limit on how many may do something at once. Turns go by rank, the smallest first; of equal rank, first come, first served.
 * A request keeps its turn until it is given back.
 */
export interface Turns {
  /** Resolves with the turn; give it back with `using` or by disposing it. Rejects with the signal's reason. */
  take(rank: readonly number[], signal: AbortSignal): Promise<Disposable>;
  waiting(): number;
}

interface Waiter {
  readonly rank: readonly number[];
  readonly number: number;
  readonly grant: (turn: Disposable) => void;
}

export function createTurns(atOnce: number): Turns {
  /** The next one last: with thousands of them, the next one must not be searched for each time. */
  const waiters: Waiter[] = [];
  let free = atOnce;
  let counter = 0;

  const give = () => {
    while (free > 0) {
      const next = waiters.pop();
      if (next === undefined) return;
      free -= 1;
      next.grant(createTurn());
    }
  };
  const createTurn = (): Disposable => {
    let given = false;
    return {
      [Symbol.dispose]: () => {
        if (given) return;
        given = true;
        free += 1;
        give();
      },
    };
  };

  return {
    take: (rank, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        counter += 1;
        const onAbort = () => {
          const index = waiters.indexOf(waiter);
          if (index >= 0) waiters.splice(index, 1);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          rank,
          number: counter,
          grant: (turn) => {
            signal.removeEventListener('abort', onAbort);
            resolve(turn);
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiters.splice(placeOf(waiters, waiter), 0, waiter);
        give();
      }),
    waiting: () => waiters.length,
  };
}

/** Where it stands among those that wait, by halving. */
function placeOf(waiters: readonly Waiter[], waiter: Waiter): number {
  let [low, high] = [0, waiters.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(waiter, waiters[middle] as Waiter)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(a: Waiter, b: Waiter): boolean {
  for (const [i, mine] of a.rank.entries()) {
    const theirs = b.rank[i] ?? 0;
    if (mine !== theirs) return mine < theirs;
  }
  return a.number < b.number;
}
