/**
 * When a failed write is retried. A failure of one object delays that object alone, longer each time. An API server that can't be
 * reached delays all: one of them is retried, and when its write succeeds, all go on.
 */
import type { PodUid } from '../api/ids.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { WriteFailure } from './rules/write-failure.ts';

export interface Retries {
  /** Whether this pod's next write must wait. `retry` is called when it may begin. */
  mustWait(uid: PodUid): boolean;
  succeeded(uid: PodUid): void;
  failed(uid: PodUid, failure: Exclude<WriteFailure, 'replaced'>): void;
  forget(uid: PodUid): void;
  /** This pod's next write must wait until then, unless there is something else to write. */
  putOff(uid: PodUid, until: number): void;
  /** There is a newer status to write: the refusal of the one before does not count. */
  renewed(uid: PodUid): void;
  /** The API server is known to answer. */
  release(): void;
  stop(): void;
}

export interface RetriesDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: (uid: PodUid) => void;
}

const FIRST_MS = 100;
/** Statuses are to be current soon after the API server is back, and one request a second is no load. */
const LONGEST_AWAY_MS = 1000;
const LONGEST_BUSY_MS = 4000;
const LONGEST_REFUSED_MS = 30_000;

export function createRetries({ clock, random, retry }: RetriesDeps): Retries {
  const own = new Map<PodUid, { readonly until: number; readonly times: number; readonly refused: boolean }>();
  const waiting = new Set<PodUid>();
  let away: { readonly until: number; readonly times: number } | undefined;
  let trying: { readonly uid: PodUid; begun: boolean } | undefined;

  const delay = (times: number, longest: number): number =>
    Math.min(FIRST_MS * 2 ** times, longest) * (0.75 + random() / 4);

  /** Retries the first of those that wait and still have something to write. */
  const tryOne = (): void => {
    for (const uid of [...waiting]) {
      waiting.delete(uid);
      trying = { uid, begun: false };
      retry(uid);
      if (trying?.begun === true) return;
    }
    trying = undefined;
    away = undefined;
  };

  const ring = (): void => {
    const now = clock.now();
    for (const [uid, { until }] of own) {
      if (until <= now) retry(uid);
      else alarm.ringAt(until);
    }
    if (away === undefined || trying !== undefined) return;
    if (away.until > now) alarm.ringAt(away.until);
    else tryOne();
  };
  const alarm = createAlarm(clock, ring);

  const release = (): void => {
    away = undefined;
    trying = undefined;
    const held = [...waiting];
    waiting.clear();
    for (const uid of held) retry(uid);
  };

  const mustWait = (uid: PodUid): boolean => {
    const until = own.get(uid)?.until;
    if (until !== undefined && until > clock.now()) return true;
    if (away === undefined) return false;
    if (trying?.uid === uid) {
      trying.begun = true;
      return false;
    }
    waiting.add(uid);
    return true;
  };

  return {
    mustWait,
    succeeded: (uid) => {
      own.delete(uid);
      if (away !== undefined) release();
    },
    failed: (uid, failure) => {
      if (trying?.uid === uid) trying = undefined;
      if (failure === 'away') {
        waiting.add(uid);
        // Several writes that were under way failed for the same reason.
        if (away !== undefined && away.until > clock.now()) return;
        const times = away === undefined ? 0 : away.times + 1;
        away = { times, until: clock.now() + delay(times, LONGEST_AWAY_MS) };
        alarm.ringAt(away.until);
        return;
      }
      if (away !== undefined) release();
      const times = (own.get(uid)?.times ?? -1) + 1;
      const until = clock.now() + delay(times, failure === 'busy' ? LONGEST_BUSY_MS : LONGEST_REFUSED_MS);
      own.set(uid, { until, times, refused: failure === 'refused' });
      alarm.ringAt(until);
    },
    forget: (uid) => {
      own.delete(uid);
      waiting.delete(uid);
      if (trying?.uid === uid) tryOne();
    },
    putOff: (uid, until) => {
      own.set(uid, { until, times: -1, refused: true });
      alarm.ringAt(until);
    },
    renewed: (uid) => {
      if (own.get(uid)?.refused === true) own.delete(uid);
    },
    release,
    stop: alarm.clear,
  };
}
