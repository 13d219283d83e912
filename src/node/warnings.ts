/** Warnings that nobody should miss and nobody wants every ten seconds: in the log and as events, each kind now and then. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { NodeEvent } from './rules/compute-node.ts';

export interface Warnings {
  /** `problem` undefined: it is over. */
  tell(reason: string, problem: string | undefined): void;
}

const AGAIN_MS = 10 * 60_000;

export function createWarnings(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: (event: NodeEvent) => void;
}): Warnings {
  const toldAt = new Map<string, number>();
  return {
    tell: (reason, problem) => {
      if (problem === undefined) {
        if (toldAt.delete(reason)) deps.log.info('A warning no longer holds', { reason });
        return;
      }
      const before = toldAt.get(reason);
      if (before !== undefined && deps.clock.mono() - before < AGAIN_MS) return;
      toldAt.set(reason, deps.clock.mono());
      deps.log.error('Something is wrong with this node', { reason, problem });
      deps.record({ type: 'Warning', reason, message: problem });
    },
  };
}
