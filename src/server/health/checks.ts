/** Every part adds its own check; the health page runs them all. */
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';

export interface HealthCheck {
  /** Part of the path `/healthz/NAME`. */
  readonly name: string;
  /** Undefined if healthy, else the reason why not. The signal aborts when no client waits for the answer any more. */
  check(signal: AbortSignal): Promise<string | undefined> | string | undefined;
}

export interface HealthChecks {
  /** Appends a check. Returns the function that removes it. */
  add(check: HealthCheck): () => void;
  list(): readonly HealthCheck[];
}

export function createHealthChecks(): HealthChecks {
  const checks = new Set<HealthCheck>();
  return {
    add: (check) => {
      for (const other of checks)
        if (other.name === check.name) throw new Error(`health check ${check.name} exists already`);
      checks.add(check);
      return () => void checks.delete(check);
    },
    list: () => [...checks],
  };
}

export interface CheckResult {
  readonly name: string;
  /** Undefined: healthy. */
  readonly reason: string | undefined;
}

/** A check that hangs has failed after this time; clients have their own timeout, often one second. */
const LONGEST_CHECK_MS = 800;

export async function runCheck(check: HealthCheck, clock: Clock, signal: AbortSignal): Promise<CheckResult> {
  using deadline = withDeadline(clock, LONGEST_CHECK_MS, `health check ${check.name}`, signal);
  const expired = new Promise<never>((_resolve, reject) => {
    deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason), { once: true });
  });
  try {
    return { name: check.name, reason: await Promise.race([check.check(deadline.signal), expired]) };
  } catch (error) {
    return { name: check.name, reason: describeError(error) };
  }
}
