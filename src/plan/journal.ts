/**
 * What became of the steps of one pod, one record for each: planned, begun, done or failed. Every function takes a journal and
 * answers the next one.
 */
import type { StepError } from '../model/explanation.ts';
import { type Actor, type StepFailure, type StepReport, type StepSubject, stepKey } from '../model/step.ts';
import type { HeldStep, PlannedStep } from './steps.ts';

export interface StepRecord {
  readonly subject: StepSubject;
  readonly reason: string;
  readonly holds: PlannedStep['holds'];
  readonly phase: 'planned' | 'begun' | 'done' | 'failed';
  /** Since when it is in this phase; a step that fails again and again: since its first failure. */
  readonly since: number;
  readonly failures: number;
  readonly failingSince?: number;
  readonly lastError?: StepError & { readonly actor?: Actor };
  readonly retryAt?: number;
  readonly held?: HeldStep['for'];
}

/** By `stepKey`, in the order in which the steps were planned. */
export type Journal = ReadonlyMap<string, StepRecord>;

export const EMPTY_JOURNAL: Journal = new Map();

export interface PlanTerms {
  readonly now: number;
  /** What was done to start the pod stays: it shows how far the pod is. */
  readonly keepDone: boolean;
}

/** The plan of a new pass. Steps that it does not have any more are dropped. */
export function planJournal(journal: Journal, planned: readonly PlannedStep[], { now, keepDone }: PlanTerms): Journal {
  const keys = new Set(planned.map(({ subject }) => stepKey(subject)));
  const kept = [...journal].filter(
    ([key, { phase, subject }]) => keys.has(key) || (keepDone && phase === 'done' && lasts(subject)),
  );
  const next = new Map<string, StepRecord>(kept);
  for (const step of planned) next.set(stepKey(step.subject), planStep(next.get(stepKey(step.subject)), step, now));
  return next;
}

function lasts({ kind }: StepSubject): boolean {
  return !/-(stop|remove)$/.test(kind) && kind !== 'clean-up' && kind !== 'container';
}

function planStep(before: StepRecord | undefined, step: PlannedStep, now: number): StepRecord {
  const { subject, reason, holds, held } = step;
  if (held !== undefined) {
    const { for: cause, lastError, failures, retryAt, since = before?.since ?? now } = held;
    const known = { ...(lastError && { lastError }), ...(retryAt !== undefined && { retryAt }) };
    return { subject, reason, holds, phase: 'planned', since, failures, held: cause, ...known };
  }
  if (before !== undefined && JSON.stringify(before.subject) === JSON.stringify(subject)) {
    return { ...before, reason, holds };
  }
  return { subject, reason, holds, phase: 'planned', since: now, failures: 0 };
}

export function noteReport(journal: Journal, report: StepReport, now: number): Journal {
  const key = stepKey(report.subject);
  const before =
    journal.get(key) ?? planStep(undefined, { subject: report.subject, reason: '', holds: 'container' }, now);
  return new Map(journal).set(key, { ...noted(before, report, now), subject: report.subject });
}

function noted(before: StepRecord, report: StepReport, now: number): StepRecord {
  const { retryAt: _, ...rest } = before;
  switch (report.kind) {
    case 'begun':
      return { ...rest, phase: 'begun', since: now };
    case 'queued':
      return { ...rest, phase: 'planned', since: now };
    case 'done': {
      const { lastError: _error, failingSince: _since, ...well } = rest;
      return { ...well, phase: 'done', since: now, failures: 0 };
    }
    case 'failed':
      return failedRecord(rest, report.failure, now);
    case 'warning':
      return warnedRecord(before, report, now);
  }
}

/** It does not count as a failure, and a failure that was before it stays the one to be shown. */
function warnedRecord(
  before: StepRecord,
  { failure: { reason, message }, retryAt }: Extract<StepReport, { kind: 'warning' }>,
  now: number,
): StepRecord {
  const isOnlyWarned = before.lastError === undefined || before.lastError.isWarning === true;
  const { retryAt: _, ...rest } = before;
  return {
    ...rest,
    ...(isOnlyWarned && { lastError: { reason, message, at: now, isWarning: true } }),
    ...(retryAt !== undefined && { retryAt }),
  };
}

function failedRecord(before: StepRecord, { reason, message, actor }: StepFailure, now: number): StepRecord {
  const failingSince = before.failingSince ?? now;
  return {
    ...before,
    phase: 'failed',
    since: failingSince,
    failingSince,
    failures: before.failures + 1,
    lastError: { reason, message, at: now, ...(actor !== undefined && { actor }) },
  };
}

/** The failed steps that match are tried again at this time. */
export function noteRetry(journal: Journal, matches: (subject: StepSubject) => boolean, retryAt: number): Journal {
  const entries = [...journal].map(([key, record]): [string, StepRecord] => [
    key,
    record.phase === 'failed' && matches(record.subject) ? { ...record, retryAt } : record,
  ]);
  return new Map(entries);
}

/** The pass ended with an error before its steps were done: those that had begun have failed. */
export function interruptJournal(journal: Journal, failure: StepFailure, retryAt: number, now: number): Journal {
  const entries = [...journal].map(([key, record]): [string, StepRecord] => [
    key,
    record.phase === 'begun' ? { ...failedRecord(record, failure, now), retryAt } : record,
  ]);
  return new Map(entries);
}
