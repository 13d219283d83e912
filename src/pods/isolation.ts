/**
 * Handles each pod by itself: where a step for one pod throws, that pod is reported in the log and by an event, and retried after a
 * back-off. The others are not affected.
 */
import type { Pod } from '../api/pod.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { PodEvent } from '../model/event.ts';

export interface Isolation {
  /** Carries out a step of this pod, unless it is in back-off. Answers whether it succeeded. */
  attempt(pod: Pod, step: string, call: () => void): boolean;
  /** Forgets the back-off of all other pods. */
  keepOnly(uids: ReadonlySet<string>): void;
  stop(): void;
}

export interface IsolationDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: (event: PodEvent) => void;
  /** The back-off of a pod is over. */
  readonly onDue: () => void;
}

interface Trouble {
  /** A pod that changed since is retried at once. */
  readonly pod: Pod;
  readonly failures: number;
  readonly until: number;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

const keyOf = ({ metadata }: Pod, step: string): string => `${metadata.uid} ${step}`;

export function createIsolation({ clock, log, record, onDue }: IsolationDeps): Isolation {
  const troubles = new Map<string, Trouble>();
  const ringNext = (): void => {
    const times = [...troubles.values()].map(({ until }) => until).filter((until) => until > clock.now());
    if (times.length > 0) alarm.ringAt(Math.min(...times));
  };
  const alarm = createAlarm(clock, () => {
    ringNext();
    onDue();
  });

  const fail = (pod: Pod, step: string, error: unknown): void => {
    const { uid, name, namespace } = pod.metadata;
    const before = troubles.get(keyOf(pod, step));
    const failures = before?.pod === pod ? before.failures + 1 : 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    troubles.set(keyOf(pod, step), { pod, failures, until: clock.now() + wait });
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('Error syncing pod, skipping', {
      err: error,
      pod: `${namespace}/${name}`,
      podUID: uid,
      step,
      retryInMs: wait,
      stack,
    });
    const message = `error syncing pod (${step}): ${describeError(error)}`;
    record({ pod: pod.metadata, type: 'Warning', reason: 'FailedSync', message });
    ringNext();
  };

  return {
    attempt: (pod, step, call) => {
      const known = troubles.get(keyOf(pod, step));
      if (known?.pod === pod && known.until > clock.now()) return false;
      try {
        call();
        troubles.delete(keyOf(pod, step));
        return true;
      } catch (error) {
        fail(pod, step, error);
        return false;
      }
    },
    keepOnly: (uids) => {
      for (const [key, { pod }] of troubles) if (!uids.has(pod.metadata.uid)) troubles.delete(key);
    },
    stop: alarm.clear,
  };
}
