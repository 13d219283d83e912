/** Warnings that no one should miss and no one wants every ten seconds: in the log and as events, each kind now and then. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { EventText } from '../model/event.ts';

export interface Warnings {
  /** `problem` undefined: it is over. */
  tell(reason: string, problem: string | undefined): void;
}

const AGAIN_MS = 10 * 60_000;
/** Two kubelets that write by turns are not at peace each time that one of them has written. */
const OVER_AFTER_MS = 2 * 60_000;

export function createWarnings(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: (event: EventText) => void;
}): Warnings {
  const known = new Map<string, { readonly toldAt: number; readonly seenAt: number }>();
  return {
    tell: (reason, problem) => {
      const now = deps.clock.mono();
      const before = known.get(reason);
      if (problem === undefined) {
        if (before === undefined || now - before.seenAt < OVER_AFTER_MS) return;
        known.delete(reason);
        deps.log.info('A warning no longer holds', { reason });
        return;
      }
      const isDue = before === undefined || now - before.toldAt >= AGAIN_MS;
      known.set(reason, { toldAt: isDue ? now : before.toldAt, seenAt: now });
      if (!isDue) return;
      deps.log.error('Something is wrong with this node', { reason, problem });
      deps.record({ type: 'Warning', reason, message: problem });
    },
  };
}
