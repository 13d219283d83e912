/** An answer that is needed often and changes seldom: kept for a while, then requested again. */
export interface Kept<T> {
  (): T;
  /** What was kept is known to be old. */
  drop(): void;
}

/** An `ask` that throws is not kept; nor, `ask` being asynchronous, is a promise that is rejected. */
export function keptFor<T>(ms: number, mono: () => number, ask: () => T): Kept<T> {
  let kept: { readonly value: T; readonly until: number } | undefined;
  const drop = () => {
    kept = undefined;
  };
  const get = () => {
    if (kept !== undefined && mono() < kept.until) return kept.value;
    const value = ask();
    const entry = { value, until: mono() + ms };
    kept = entry;
    if (value instanceof Promise) {
      value.catch(() => {
        if (kept === entry) kept = undefined;
      });
    }
    return value;
  };
  return Object.assign(get, { drop });
}
