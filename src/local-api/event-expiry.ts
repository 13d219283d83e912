/** Events stay for an hour, as in a cluster, and no more of them than a person would read. */
import { parseTimestamp } from '../api/timestamp.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { ApiObject } from './rules/objects.ts';
import { EVENTS } from './rules/resources.ts';
import type { Store } from './store.ts';

export interface EventExpiryDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
}

const KEPT_MS = 3_600_000;
const SWEEP_EVERY_MS = 300_000;
const MOST_EVENTS = 2000;
/** Counted only now and then: a count goes over all objects. */
const COUNT_EVERY = 100;

export function createEventExpiry({ clock, log, store }: EventExpiryDeps): Part {
  const sweep = (): void => {
    const events = store.list(EVENTS.plural, '').map((object) => ({ object, at: lastSeen(object) }));
    const newestFirst = events.toSorted((one, other) => other.at - one.at);
    const oldest = clock.now() - KEPT_MS;
    const gone = newestFirst.filter(({ at }, index) => at < oldest || index >= MOST_EVENTS);
    for (const { object } of gone) remove(object);
  };
  const remove = ({ metadata: { name, namespace = '' } }: ApiObject): void => {
    const key = { resource: EVENTS.plural, namespace, name };
    store
      .change(key, (last) =>
        last === undefined ? { kind: 'none' } : { kind: 'remove', last, keeping: EVENTS.keeping },
      )
      .catch((error: unknown) => log.warn('Failed to remove an old event', { name, err: describeError(error) }));
  };
  const alarm = createAlarm(clock, () => {
    sweep();
    alarm.ringAt(clock.now() + SWEEP_EVERY_MS);
  });
  let made = 0;
  let stop: (() => void) | undefined;
  return {
    name: 'expiry of events',
    start: () => {
      alarm.ringAt(clock.now());
      stop = store.watch(store.revision(), ({ resource, before }) => {
        if (resource !== EVENTS.plural || before !== undefined) return;
        made += 1;
        if (made % COUNT_EVERY === 0) alarm.ringAt(clock.now());
      });
    },
    stop: () => {
      alarm.clear();
      stop?.();
    },
  };
}

function lastSeen(object: ApiObject): number {
  const { lastTimestamp, eventTime } = object as { readonly lastTimestamp?: unknown; readonly eventTime?: unknown };
  const times = [lastTimestamp, eventTime, object.metadata.creationTimestamp];
  const text = times.find((time) => typeof time === 'string');
  return (typeof text === 'string' ? parseTimestamp(text) : undefined) ?? 0;
}
