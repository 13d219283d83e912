/** The health pages, for every port. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { type CheckResult, type HealthCheck, type HealthChecks, runCheck } from './checks.ts';
import { checkPage, healthPage, type PageAnswer } from './page.ts';

export interface AskHealthDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly checks: HealthChecks;
  /** Called after each check, for metrics. */
  readonly onResult?: (result: CheckResult) => void;
}

/** Whether this is the path of `/healthz` or of a check. */
export function isHealthPath(path: string, checks: HealthChecks): boolean {
  return path === '/healthz' || checkAt(path, checks) !== undefined;
}

const checkAt = (path: string, checks: HealthChecks) => checks.list().find(({ name }) => path === `/healthz/${name}`);

/** Undefined: there is no such page. */
export async function askHealth(
  deps: AskHealthDeps,
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
  signal: AbortSignal,
): Promise<PageAnswer | undefined> {
  const run = async (check: HealthCheck) => {
    const result = await runCheck(check, deps.clock, signal);
    deps.onResult?.(result);
    return result;
  };
  const check = checkAt(path, deps.checks);
  if (check !== undefined) return checkPage(await run(check));
  if (path !== '/healthz') return undefined;
  const excluded = query.getAll('exclude');
  const outcomeOf = (each: HealthCheck) =>
    excluded.includes(each.name) ? { name: each.name, excluded: true as const } : run(each);
  const outcomes = await Promise.all(deps.checks.list().map(outcomeOf));
  for (const outcome of outcomes) {
    if ('reason' in outcome && outcome.reason !== undefined) {
      deps.log.v(2)?.info('Health check failed', { check: outcome.name, reason: outcome.reason });
    }
  }
  return healthPage(outcomes, { verbose: query.has('verbose'), excluded });
}
