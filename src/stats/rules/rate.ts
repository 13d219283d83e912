/** CPU rates from counters: which of the readings that were made so far a rate is taken over. */

export interface UsageReading {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Nanoseconds of CPU time so far. */
  readonly usage: number;
}

/** The last reading, and the one that rates count from. */
export interface UsageHistory {
  readonly base: UsageReading | undefined;
  readonly last: UsageReading;
}

/** A shorter span says more of the scheduler than of the load. */
const SHORTEST_BASE_MS = 1000;
/** Where no one asked for so long, a rate since then would say nothing of now. */
export const LONGEST_BASE_MS = 60_000;
const NS_PER_MS = 1e6;

/** Without a history, or with one that is too old, the next reading begins a new one. */
export function addReading(history: UsageHistory | undefined, reading: UsageReading): UsageHistory {
  const last = history?.last;
  const isStale = last === undefined || reading.at - last.at > LONGEST_BASE_MS || reading.usage < last.usage;
  if (isStale) return { base: undefined, last: reading };
  const base = history?.base;
  const moves = base === undefined || reading.at - last.at >= SHORTEST_BASE_MS;
  return { base: moves ? last : base, last: reading };
}

/** A thousandth of a core. */
const IDLE_NANO_CORES = 1e6;
const IDLE_INTERVALS = 4;

/** Whether housekeeping reads this cgroup now: each time if it is busy, seldom if it does nothing. A rate always has a base. */
export function isDue(history: UsageHistory | undefined, now: number, intervalMs: number): boolean {
  const rate = rateOf(history);
  if (history === undefined || rate === undefined || rate >= IDLE_NANO_CORES) return true;
  const seldom = Math.min(IDLE_INTERVALS * intervalMs, LONGEST_BASE_MS - intervalMs);
  return now - history.last.at >= seldom - intervalMs / 2;
}

/** Nanocores: nanoseconds of CPU time in a second. Undefined until there are two readings. */
export function rateOf(history: UsageHistory | undefined): number | undefined {
  if (history?.base === undefined || history.last.at <= history.base.at) return undefined;
  const { base, last } = history;
  return Math.floor(((last.usage - base.usage) / ((last.at - base.at) * NS_PER_MS)) * 1e9);
}
