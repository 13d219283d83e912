/**
 * What the publisher knows of one pod: the newest status, and how far it has come.
 *
 *   published ──finish──► finished ──object deleted──► deleted ──object gone──► (forgotten)
 *       ▲──────publish───────┘ a static pod begins again under its UID
 *
 * Only the newest status counts: one that was never sent is replaced.
 */
import type { PodStatus } from '../../api/pod-status.ts';
import { isMirrorPod } from '../../api/pod-traits.ts';
import { assertNever } from '../../base/assert-never.ts';
import { mayAnswerAt, noteAnswer, type Standoff } from '../../base/standoff.ts';
import type { ApiObject } from './api-object.ts';
import { planStatusPatch, type StatusPatch, sameOwnStatus } from './status-patch.ts';

export type StatusEntry =
  | { readonly step: 'published'; readonly report: Report }
  /** Nothing of the pod runs, and its volumes and cgroup are gone. A pod that this kubelet published no status of has no report. */
  | { readonly step: 'finished'; readonly report: Report | undefined }
  /** The API server has accepted the deletion; a finalizer may keep the object for longer. */
  | { readonly step: 'deleted'; readonly objectUid: string };

export interface Report {
  readonly status: PodStatus;
  readonly delivery: Delivery;
  /** The API server has accepted this status or one before it. */
  readonly everAccepted: boolean;
  /** How often another client has overwritten what was accepted. */
  readonly overwritten: Standoff | undefined;
}

export type Delivery =
  /** The API server lacks the newest status since then (monotonic, ms). */
  | { readonly kind: 'unsent'; readonly since: number }
  /** The object had this status without a write of ours. */
  | { readonly kind: 'present' }
  /** The API server accepted it, and this is what it made of it. */
  | { readonly kind: 'accepted'; readonly answer: PodStatus };

export type EntryInput =
  | { readonly kind: 'publish'; readonly status: PodStatus }
  | { readonly kind: 'finish' }
  | { readonly kind: 'accepted'; readonly patch: PatchWork; readonly answer: PodStatus }
  | { readonly kind: 'deleted'; readonly objectUid: string };

export interface PatchWork {
  readonly kind: 'patch';
  readonly patch: StatusPatch;
  readonly status: PodStatus;
  /** The API server had accepted just this before. */
  readonly again: boolean;
}

export type StatusWork = PatchWork | { readonly kind: 'delete' };

export type EntryEffect =
  /** How long the API server lacked a status that it has now. */
  | { readonly kind: 'synced'; readonly ms: number }
  /** Another client keeps overwriting the status. */
  | { readonly kind: 'report-overwriting' };

export interface Times {
  /** Wall clock, ms. */
  readonly now: number;
  /** Monotonic, ms. */
  readonly mono: number;
}

export interface EntryStep {
  readonly entry: StatusEntry;
  readonly effects: readonly EntryEffect[];
}

/** Once may be a person's edit; the second time it is another client that does not stop. */
const REPORTED_OVERWRITE = 2;

/** That a new pod waits needs no hurry: the write would delay what the pod waits for, its token and its objects. */
const FIRST_PENDING_MS = 30;

export function nextEntry(entry: StatusEntry | undefined, input: EntryInput, times: Times): EntryStep {
  switch (input.kind) {
    case 'publish':
      return still(published(entry, input.status, times));
    case 'finish':
      return still(entry?.step === 'deleted' ? entry : { step: 'finished', report: entry?.report });
    case 'accepted':
      return accepted(entry, input, times);
    case 'deleted':
      return still({ step: 'deleted', objectUid: input.objectUid });
    default:
      return assertNever(input);
  }
}

const still = (entry: StatusEntry): EntryStep => ({ entry, effects: [] });

function published(entry: StatusEntry | undefined, status: PodStatus, { mono }: Times): StatusEntry {
  if (entry?.step === 'deleted') return entry;
  const before = entry?.report;
  const since = before?.delivery.kind === 'unsent' ? before.delivery.since : mono;
  const { everAccepted = false, overwritten } = before ?? {};
  return { step: 'published', report: { status, delivery: { kind: 'unsent', since }, everAccepted, overwritten } };
}

function accepted(
  entry: StatusEntry | undefined,
  { patch, answer }: Extract<EntryInput, { kind: 'accepted' }>,
  { now, mono }: Times,
): EntryStep {
  if (entry === undefined || entry.step === 'deleted' || entry.report === undefined)
    throw new Error('a status was accepted of a pod without one');
  const { status, delivery, overwritten: before } = entry.report;
  const overwritten = patch.again ? noteAnswer(before, now) : before;
  const report: Report = {
    status,
    // A newer status may have come while this one was under way.
    delivery: status === patch.status ? { kind: 'accepted', answer } : { kind: 'unsent', since: mono },
    everAccepted: true,
    overwritten,
  };
  const effects: EntryEffect[] = [];
  if (delivery.kind === 'unsent') effects.push({ kind: 'synced', ms: mono - delivery.since });
  if (patch.again && overwritten?.times === REPORTED_OVERWRITE) effects.push({ kind: 'report-overwriting' });
  return { entry: { ...entry, report }, effects };
}

export type NextWrite =
  | { readonly kind: 'none' }
  /** Nothing is left to write, now or later. */
  | { readonly kind: 'forget' }
  /** `notBefore`: wall clock, ms. */
  | { readonly kind: 'write'; readonly work: StatusWork; readonly notBefore: number };

/** What to write next; `object` is what the API server has of the pod, undefined where it has none. */
export function planWrite(
  entry: StatusEntry,
  object: ApiObject | undefined,
  times: Times,
): { readonly entry: StatusEntry; readonly next: NextWrite } {
  if (object === undefined) return { entry, next: { kind: entry.step === 'published' ? 'none' : 'forget' } };
  if (entry.step === 'deleted') return { entry, next: { kind: 'none' } };
  const { report } = entry;
  const patch = report && planPatch(report, object);
  if (report !== undefined && patch !== undefined)
    return { entry, next: { kind: 'write', work: patch, notBefore: earliestPatch(report, times) } };
  const isGoing = object.metadata.deletionTimestamp !== undefined && !isMirrorPod(object);
  const mayGo = entry.step === 'finished' && isGoing;
  return {
    entry: report?.delivery.kind === 'unsent' ? { ...entry, report: { ...report, delivery: PRESENT } } : entry,
    next: mayGo ? { kind: 'write', work: { kind: 'delete' }, notBefore: 0 } : { kind: 'none' },
  };
}

const PRESENT: Delivery = { kind: 'present' };

function planPatch({ status, delivery }: Report, object: ApiObject): PatchWork | undefined {
  const again = delivery.kind === 'accepted';
  // What the API server made of it is as near as it gets: the same write again would change nothing.
  if (again && sameOwnStatus(object.status, delivery.answer)) return undefined;
  const patch = planStatusPatch(object.status, status);
  return patch && { kind: 'patch', patch, status, again };
}

function earliestPatch({ status, delivery, everAccepted, overwritten }: Report, { now, mono }: Times): number {
  if (delivery.kind === 'accepted') return mayAnswerAt(overwritten);
  const isFirst = !everAccepted && status.phase === 'Pending';
  return isFirst && delivery.kind === 'unsent' ? now - (mono - delivery.since) + FIRST_PENDING_MS : 0;
}
