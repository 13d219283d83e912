/** Passes events to a writer that may be slow or unavailable, no faster than allowed; what is too much is dropped, oldest first. */
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createTokenBucket } from '../base/token-bucket.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Event } from './rules/correlation.ts';

export interface PacedSinkDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** Tries as often as it finds right. What it throws is logged, and the event is lost. */
  readonly send: (event: Event, signal: AbortSignal) => Promise<void>;
}

export interface PacedSinkConfig {
  /** eventRecordQPS; 0: no limit. */
  readonly perSecond: number;
  /** eventBurst. */
  readonly burst: number;
}

export interface PacedSink extends Part {
  offer(event: Event): void;
}

const LONGEST_QUEUE = 1000;

export function createPacedSink({ perSecond, burst }: PacedSinkConfig, deps: PacedSinkDeps): PacedSink {
  const { clock, log } = deps;
  const queue: Event[] = [];
  const bit = createWakeBit();
  const stopping = linkSignal();
  const bucket =
    perSecond === 0 ? undefined : createTokenBucket({ burst: Math.max(burst, 1), perSecond }, clock.mono());
  let running: Promise<void> = Promise.resolve();
  let dropped = 0;

  const send = async (event: Event) => {
    for (let wait = bucket?.waitMs(clock.mono()) ?? 0; wait > 0; wait = bucket?.waitMs(clock.mono()) ?? 0) {
      await clock.sleep(wait, stopping.signal);
    }
    bucket?.take(clock.mono());
    try {
      await deps.send(event, stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) log.warn('Event not sent', { reason: event.reason, err: describeError(error) });
    }
  };

  const sendAll = async () => {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) await send(event);
    if (dropped > 0) log.warn('Events dropped: they came faster than they could be sent', { count: dropped });
    dropped = 0;
  };

  return {
    name: 'event sink',
    offer: (event) => {
      // The newest state of an event is the one that counts.
      const same = queue.findIndex(({ name, namespace }) => name === event.name && namespace === event.namespace);
      if (same >= 0) queue.splice(same, 1);
      queue.push(event);
      if (queue.length > LONGEST_QUEUE) {
        queue.shift();
        dropped += 1;
      }
      bit.wake();
    },
    start: () => {
      running = deps.supervisor.run({ name: 'event sink', pass: sendAll, rest: bit.wait }, stopping.signal);
    },
    stop: async () => {
      stopping.abort('stopped');
      await running;
    },
  };
}
