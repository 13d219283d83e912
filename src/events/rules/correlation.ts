/**
 * What becomes of an event beside those before it: the same again is counted, many that differ only in their message become one,
 * and an object with very many events is reported less and less often. The numbers are the reference's.
 */
import { createTokenBucket, type TokenBucket } from '../../base/token-bucket.ts';
import { truncateUtf8 } from '../../base/truncate.ts';
import type { EventType } from '../../model/event.ts';
import { createRecentMap } from './recent-map.ts';

export interface InvolvedObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod' | 'Node';
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Of the object as it was; not counted as a difference. */
  readonly resourceVersion?: string;
  readonly fieldPath: string;
}

export interface Event {
  readonly name: string;
  readonly namespace: string;
  readonly object: InvolvedObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Wall clock, milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
}

export interface Correlated {
  /** With the name, the count and the first time of what it repeats. */
  readonly event: Event;
  /** The object has made so many that this one should not leave the node. */
  readonly spam: boolean;
}

export interface CorrelationLimits {
  /** From so many messages on within the time, the events of one reason become one. */
  readonly similarMessages: number;
  readonly similarWithinMs: number;
  readonly spamBurst: number;
  readonly spamPerSecond: number;
  /** So many objects and messages are remembered. */
  readonly memory: number;
}

export const DEFAULT_LIMITS: CorrelationLimits = {
  similarMessages: 10,
  similarWithinMs: 600_000,
  spamBurst: 25,
  spamPerSecond: 1 / 300,
  memory: 4096,
};

/** Bytes that the events.k8s.io API allows for the two texts; the core API, which we write to, has no limit of its own. */
const LONGEST_MESSAGE = 1024;
const LONGEST_REASON = 128;

/** As it may be stored and sent: its texts quote runtimes, registries and probes, which can contain anything. */
export function boundTexts<T extends Pick<Event, 'reason' | 'message'>>(event: T): T {
  return {
    ...event,
    reason: truncateUtf8(event.reason, LONGEST_REASON),
    message: truncateUtf8(event.message, LONGEST_MESSAGE, ' ...'),
  };
}

interface Similar {
  readonly messages: Set<string>;
  lastAt: number;
}

export interface Correlator {
  correlate(event: Event): Correlated;
}

export function createCorrelator(limits: CorrelationLimits = DEFAULT_LIMITS): Correlator {
  const similar = createRecentMap<Similar>(limits.memory);
  const seen = createRecentMap<Event>(limits.memory);
  const buckets = createRecentMap<TokenBucket>(limits.memory);

  /** The event itself, or the one that stands for all that are like it; with the key under which it is counted. */
  const aggregate = (event: Event): { readonly event: Event; readonly key: string } => {
    const kin = keyOf(event.object, event.type, event.reason);
    const known = similar.get(kin);
    const record: Similar =
      known === undefined || event.lastAt - known.lastAt > limits.similarWithinMs
        ? { messages: new Set(), lastAt: event.lastAt }
        : known;
    record.messages.add(event.message);
    record.lastAt = event.lastAt;
    similar.set(kin, record);
    if (record.messages.size < limits.similarMessages) {
      return { event, key: keyOf(event.object, event.object.fieldPath, event.type, event.reason, event.message) };
    }
    const [oldest] = record.messages;
    if (oldest !== undefined) record.messages.delete(oldest);
    return { event: boundTexts({ ...event, message: `(combined from similar events): ${event.message}` }), key: kin };
  };

  const count = (event: Event, key: string): Event => {
    const last = seen.get(key);
    const counted =
      last === undefined ? event : { ...event, name: last.name, firstAt: last.firstAt, count: last.count + 1 };
    seen.set(key, counted);
    return counted;
  };

  const isSpam = ({ object, type, lastAt }: Event): boolean => {
    const key = keyOf(object, type);
    const size = { burst: limits.spamBurst, perSecond: limits.spamPerSecond };
    const bucket = buckets.get(key) ?? createTokenBucket(size, lastAt);
    buckets.set(key, bucket);
    return !bucket.take(lastAt);
  };

  return {
    correlate: (event) => {
      const { event: one, key } = aggregate(event);
      const counted = count(one, key);
      return { event: counted, spam: isSpam(counted) };
    },
  };
}

function keyOf(object: InvolvedObject, ...more: readonly string[]): string {
  return JSON.stringify([object.kind, object.namespace, object.name, object.uid, ...more]);
}
