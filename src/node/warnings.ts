/** Lasting problems of the node: each is logged and recorded as an event, and again every ten minutes while it lasts. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { EventText } from '../model/event.ts';

export interface Warnings {
  /** `problem` undefined: the problem was not seen. */
  report(reason: string, problem: string | undefined): void;
}

const AGAIN_MS = 10 * 60_000;
/** When two kubelets write in turns, the problem is not over each time this one has written. */
const OVER_AFTER_MS = 2 * 60_000;

export function createWarnings(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: (event: EventText) => void;
}): Warnings {
  const known = new Map<string, { readonly reportedAt: number; readonly seenAt: number }>();
  return {
    report: (reason, problem) => {
      const now = deps.clock.mono();
      const before = known.get(reason);
      if (problem === undefined) {
        if (before === undefined || now - before.seenAt < OVER_AFTER_MS) return;
        known.delete(reason);
        deps.log.info('Node problem is over', { reason });
        return;
      }
      const isDue = before === undefined || now - before.reportedAt >= AGAIN_MS;
      known.set(reason, { reportedAt: isDue ? now : before.reportedAt, seenAt: now });
      if (!isDue) return;
      deps.log.error('Node has a problem', { reason, problem });
      deps.record({ type: 'Warning', reason, message: problem });
    },
  };
}
