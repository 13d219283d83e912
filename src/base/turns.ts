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
  const waiters = new Set<Waiter>();
  let free = atOnce;
  let counter = 0;

  const give = () => {
    while (free > 0 && waiters.size > 0) {
      const next = [...waiters].reduce((best, waiter) => (isBefore(waiter, best) ? waiter : best));
      waiters.delete(next);
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
          waiters.delete(waiter);
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
        waiters.add(waiter);
        give();
      }),
    waiting: () => waiters.size,
  };
}

function isBefore(a: Waiter, b: Waiter): boolean {
  for (const [i, mine] of a.rank.entries()) {
    const theirs = b.rank[i] ?? 0;
    if (mine !== theirs) return mine < theirs;
  }
  return a.number < b.number;
}
