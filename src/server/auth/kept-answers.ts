/** A cache of answers, with a limited size: a client that sends a new token with each request must not fill the memory. */
export interface KeptAnswers<T> {
  get(key: string): T | undefined;
  /** Kept for `ttlMs`; 0 or less: not at all. */
  set(key: string, value: T, ttlMs: number): void;
}

export function createKeptAnswers<T>(mono: () => number, atMost: number): KeptAnswers<T> {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get: (key) => {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      if (mono() < found.until) return found.value;
      kept.delete(key);
      return undefined;
    },
    set: (key, value, ttlMs) => {
      if (ttlMs <= 0) return;
      kept.delete(key);
      // A map keeps the order of insertion: the first is the oldest.
      for (const oldest of kept.keys()) {
        if (kept.size < atMost) break;
        kept.delete(oldest);
      }
      kept.set(key, { value, until: mono() + ttlMs });
    },
  };
}
