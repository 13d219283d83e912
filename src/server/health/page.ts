/** The text of the health page for the results of its checks, in the format that monitoring tools know. */
import type { CheckResult } from './checks.ts';

export interface PageRequest {
  /** Write the line of every check even if all are healthy. */
  readonly verbose: boolean;
  readonly excluded: readonly string[];
}

export interface PageAnswer {
  readonly status: number;
  readonly body: string;
}

export type CheckOutcome = CheckResult | { readonly name: string; readonly excluded: true };

export function healthPage(outcomes: readonly CheckOutcome[], request: PageRequest): PageAnswer {
  const lines = outcomes.map(lineOf);
  const names = new Set(outcomes.map(({ name }) => name));
  const unknown = [...new Set(request.excluded)].filter((name) => !names.has(name)).sort();
  if (unknown.length > 0) {
    const quoted = unknown.map((name) => JSON.stringify(name)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted}`);
  }
  const failed = outcomes.some((outcome) => 'reason' in outcome && outcome.reason !== undefined);
  // The reason is on the page of the check itself; this page is open to all callers.
  if (failed) return { status: 500, body: `${[...lines, 'healthz check failed'].join('\n')}\n` };
  if (!request.verbose) return { status: 200, body: 'ok' };
  return { status: 200, body: `${[...lines, 'healthz check passed'].join('\n')}\n` };
}

function lineOf(outcome: CheckOutcome): string {
  if ('excluded' in outcome) return `[+]${outcome.name} excluded: ok`;
  return outcome.reason === undefined ? `[+]${outcome.name} ok` : `[-]${outcome.name} failed: reason withheld`;
}

export function checkPage(result: CheckResult): PageAnswer {
  if (result.reason === undefined) return { status: 200, body: 'ok' };
  return { status: 500, body: `internal server error: ${result.reason}\n` };
}
