/** A map that forgets what was not asked for or set for longest. */
export interface RecentMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  /** Longest unused first. */
  values(): IterableIterator<V>;
}

export function createRecentMap<V>(most: number): RecentMap<V> {
  const entries = new Map<string, V>();
  const renew = (key: string, value: V) => {
    entries.delete(key);
    entries.set(key, value);
  };
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value !== undefined) renew(key, value);
      return value;
    },
    set: (key, value) => {
      renew(key, value);
      if (entries.size <= most) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
    values: () => entries.values(),
  };
}
