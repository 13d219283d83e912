/**
 * The wait before a crashed container starts again: none after the first crash, then 10 s, doubling up to the maximum.
 * A container that ran long enough starts with no wait again.
 *
 * A record is made when a crashed container is started again, and holds the wait after the next crash. Another decision about the same
 * crash changes nothing: a start that is delayed (by its image, by a restart of the kubelet) must not make the next wait longer.
 */

import { formatDuration } from '../api/duration.ts';
import type { Pod } from '../api/pod.ts';
import { podTitle } from '../api/pod-traits.ts';
import type { ObservedContainer } from '../model/observation.ts';
import type { CrashRecord, WaitingReason } from '../model/plan.ts';
import type { BackOffSettings } from './snapshot.ts';

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;
const RESET_MS = 600_000;

/** With the node's own maximum, where `crashLoopBackOff.maxContainerRestartPeriod` sets one. */
export function backOffSettings(maxMs = MAX_MS): BackOffSettings {
  return { initialMs: Math.min(INITIAL_MS, maxMs), maxMs, resetAfterMs: RESET_MS };
}

export interface BackOffInput {
  /** The newest container of that name that has ended. */
  readonly crashed: ObservedContainer | undefined;
  readonly record: CrashRecord | undefined;
  readonly settings: BackOffSettings;
  readonly now: number;
}

export type BackOffVerdict =
  | { readonly kind: 'start'; readonly record: CrashRecord | undefined }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly until: number };

export function judgeBackOff({ crashed, record, settings, now }: BackOffInput): BackOffVerdict {
  if (crashed === undefined || crashed.finishedAt === record?.since) return { kind: 'start', record };
  const since = crashed.finishedAt;
  if (record === undefined || ranLong(crashed, settings)) {
    return { kind: 'start', record: { waitMs: Math.min(settings.initialMs, settings.maxMs), since } };
  }
  const until = since + record.waitMs;
  if (now < until) return { kind: 'wait', waitMs: record.waitMs, until };
  return { kind: 'start', record: { waitMs: Math.min(record.waitMs * 2, settings.maxMs), since } };
}

function ranLong({ startedAt, finishedAt }: ObservedContainer, { resetAfterMs }: BackOffSettings): boolean {
  return startedAt > 0 && finishedAt - startedAt > resetAfterMs;
}

export function crashLoopWaiting(pod: Pod, name: string, waitMs: number): WaitingReason {
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${formatDuration(waitMs)} restarting failed container=${name} pod=${podTitle(pod)}`,
  };
}
