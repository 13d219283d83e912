/** From what was planned and what became of it to the answer to "why is my pod not starting": see model/explanation.ts. */
import type { ExplainedStep, PodExplanation, StepError, StepState } from '../model/explanation.ts';
import type { PodEnding, PodStep } from '../model/pod-view.ts';
import type { Actor, StepSubject } from '../model/step.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import type { Journal, StepRecord } from './journal.ts';
import { actorOfFailure, actorOfStep, actorOfVolume } from './who-acts.ts';

export interface ExplainInput {
  readonly pod: PodExplanation['pod'];
  readonly step: PodStep;
  /** When the kubelet first had the pod. */
  readonly acknowledgedAt: number;
  readonly ended: PodEnding | undefined;
  /** How far the volumes of the pod are. */
  readonly volumes: readonly VolumeProgress[];
  readonly journal: Journal;
}

export function explainPod({ pod, step, acknowledgedAt, ended, volumes, journal }: ExplainInput): PodExplanation {
  const records = [...journal.values()];
  const steps = records.flatMap((record, index): readonly ExplainedStep[] => {
    const own = explainStep(records, index);
    const details = record.subject.kind === 'volumes' && record.phase !== 'done' ? volumes : [];
    return [...details.map((volume) => explainVolume(volume, own)), own];
  });
  return { pod, step, steps: [explainAdmission(acknowledgedAt, ended), ...steps] };
}

/** A pod that can begin when others have ended: it has no plan yet. */
export function explainPreemption(
  pod: PodExplanation['pod'],
  victims: readonly PodExplanation['pod'][],
  since: number,
): PodExplanation {
  const state: StepState = { kind: 'waiting', since, actor: 'node', for: { kind: 'preemption', pods: victims } };
  const admission = {
    subject: { kind: 'admission' } as const,
    reason: 'the pod is new on this node',
    state,
    failures: 0,
  };
  return { pod, step: 'syncing', steps: [admission] };
}

function explainAdmission(since: number, ended: PodEnding | undefined): ExplainedStep {
  const subject = { kind: 'admission' } as const;
  if (ended?.rejected !== true) {
    return { subject, reason: 'the pod is new on this node', state: { kind: 'done', since }, failures: 0 };
  }
  const { reason, message } = ended;
  return {
    subject,
    reason: 'the pod is new on this node',
    state: { kind: 'refused', since, actor: actorOfFailure(subject, { reason }) },
    failures: 1,
    lastError: { reason, message, at: since },
  };
}

function explainStep(records: readonly StepRecord[], index: number): ExplainedStep {
  const record = records[index] as StepRecord;
  const { subject, reason, failures, lastError, retryAt } = record;
  return {
    subject,
    reason,
    state: stateOf(records, index),
    failures,
    ...(lastError && { lastError: shownError(lastError) }),
    ...(retryAt !== undefined && { retryAt }),
  };
}

function shownError({ reason, message, at, isWarning }: StepError): StepError {
  return { reason, message, at, ...(isWarning && { isWarning }) };
}

function explainVolume(volume: VolumeProgress, { reason }: ExplainedStep): ExplainedStep {
  const { name, stage, since, lastTry, nextTryAt } = volume;
  const actor = actorOfVolume(volume);
  const failing: StepState = { kind: 'waiting', since, actor, for: { kind: 'retry' } };
  const working: StepState = stage === 'ready' ? { kind: 'done', since } : { kind: 'under-way', since, actor };
  return {
    subject: { kind: 'volume', name, stage },
    reason,
    state: lastTry === undefined ? working : failing,
    failures: lastTry?.count ?? 0,
    ...(lastTry && { lastError: { reason: 'FailedMount', message: lastTry.message, at: lastTry.at } }),
    ...(nextTryAt !== undefined && { retryAt: nextTryAt }),
  };
}

function stateOf(records: readonly StepRecord[], index: number): StepState {
  const record = records[index] as StepRecord;
  const { phase, since, subject, lastError, held } = record;
  switch (phase) {
    case 'done':
      return { kind: 'done', since };
    case 'begun':
      return { kind: 'under-way', since, actor: actorOf(subject, lastError) };
    case 'failed':
      return { kind: 'waiting', since, actor: actorOf(subject, lastError), for: { kind: 'retry' } };
    case 'planned': {
      if (held !== undefined) {
        return { kind: 'waiting', since, actor: actorOfHold(records, held), for: held };
      }
      const before = blocker(records, index);
      if (before === undefined) return { kind: 'waiting', since, actor: 'node', for: { kind: 'turn' } };
      const actor = actorOf(before.subject, before.lastError);
      return { kind: 'waiting', since, actor, for: { kind: 'step', subject: before.subject } };
    }
  }
}

/** A crash is the user's; an init container's own steps say who is to act on it, and once it runs its program is. */
function actorOfHold(records: readonly StepRecord[], held: NonNullable<StepRecord['held']>): Actor {
  if (held.kind === 'back-off') return 'user';
  const index = records.findIndex(({ subject, phase }) => containerOf(subject) === held.container && phase !== 'done');
  const state = index < 0 ? undefined : stateOf(records, index);
  return state === undefined || state.kind === 'done' ? 'container' : state.actor;
}

/** The earlier step that is not done and that this one waits for. */
function blocker(records: readonly StepRecord[], index: number): StepRecord | undefined {
  const own = containerOf((records[index] as StepRecord).subject);
  return records.slice(0, index).find(({ phase, holds, subject, held }) => {
    if (phase === 'done' || held !== undefined) return false;
    return holds === 'pod' || phase === 'begun' || containerOf(subject) === own;
  });
}

function containerOf(subject: StepSubject): string | undefined {
  return 'container' in subject ? subject.container : undefined;
}

function actorOf(subject: StepSubject, lastError: StepRecord['lastError']): Actor {
  return lastError === undefined ? actorOfStep(subject) : actorOfFailure(subject, lastError);
}
