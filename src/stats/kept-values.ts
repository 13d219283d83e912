/** What seldom changes, by cgroup: read again after some time. */
import type { Clock } from '../base/clock.ts';
import { parseOpenFilesLimit } from './rules/kernel-text.ts';

export function createKeptValues<T>(clock: Pick<Clock, 'now'>, keepMs: number) {
  const values = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get: (path: string, read: () => T): T => {
      const now = clock.now();
      const known = values.get(path);
      if (known !== undefined && known.until > now) return known.value;
      const value = read();
      values.set(path, { value, until: now + keepMs });
      return value;
    },
    /** Forgets all other cgroups. */
    retain: (isKnown: (path: string) => boolean): void => {
      for (const path of values.keys()) if (!isKnown(path)) values.delete(path);
    },
  };
}

/** A process seldom changes its own limits. */
const PROCESS_LIMITS_KEPT_MS = 60_000;

export function createProcessLimits(
  clock: Pick<Clock, 'now'>,
  { read }: { readonly read: (path: string) => string | undefined },
) {
  const kept = createKeptValues<{ readonly pid: number; readonly limit: number | undefined }>(
    clock,
    PROCESS_LIMITS_KEPT_MS,
  );
  return {
    openFiles: (path: string, pid: number): number | undefined => {
      const ask = () => ({ pid, limit: parseOpenFilesLimit(read(`/proc/${pid}/limits`)) });
      const known = kept.get(path, ask);
      // The first process of the cgroup is another one now.
      return known.pid === pid ? known.limit : ask().limit;
    },
    retain: kept.retain,
  };
}
