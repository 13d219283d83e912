/**
 * Why a pod is as it is: each step on its way, what it waits for, since when, who has to act, what was tried, and when it is tried
 * again. Pure data: it can be sent as JSON and is rendered as it is. Times are wall clock, milliseconds since 1970.
 */
import type { PodStep } from './pod-view.ts';
import type { Actor, StepSubject } from './step.ts';

export interface PodExplanation {
  readonly pod: { readonly uid: string; readonly namespace: string; readonly name: string };
  readonly step: PodStep;
  /** In the order in which they are carried out. Empty for a pod that needs nothing. */
  readonly steps: readonly ExplainedStep[];
}

export interface ExplainedStep {
  readonly subject: StepSubject;
  /** Why the plan has this step. */
  readonly reason: string;
  readonly state: StepState;
  /** How often it failed since it last went well. */
  readonly failures: number;
  readonly lastError?: StepError;
  /** When it is tried next. Without it, it is tried when what it waits for changes. */
  readonly retryAt?: number;
}

export type StepState =
  | { readonly kind: 'done'; readonly since: number }
  /** Being carried out: `actor` is who takes this long. */
  | { readonly kind: 'under-way'; readonly since: number; readonly actor: Actor }
  | { readonly kind: 'waiting'; readonly since: number; readonly actor: Actor; readonly for: WaitCause }
  /** It is not tried again. */
  | { readonly kind: 'refused'; readonly since: number; readonly actor: Actor };

export type WaitCause =
  /** An earlier step has to be done first. */
  | { readonly kind: 'step'; readonly subject: StepSubject }
  /** It failed: `lastError` says why. */
  | { readonly kind: 'retry' }
  /** The container ended too often: it rests before it starts again. */
  | { readonly kind: 'back-off'; readonly exitCode: number }
  /** An init container has to succeed, or to have started up where it is a sidecar. */
  | { readonly kind: 'container'; readonly container: string; readonly until: 'succeeded' | 'started' }
  /** These pods have to end first: they make room for this one. */
  | { readonly kind: 'preemption'; readonly pods: readonly PodExplanation['pod'][] }
  /** It is next: other pods on this node are being started. */
  | { readonly kind: 'turn' };

export interface StepError {
  readonly reason: string;
  readonly message: string;
  readonly at: number;
  /** It does not hold the step up. */
  readonly isWarning?: true;
}

/** The answer to "why is my pod not starting": with what is known at the moment of the question. */
export interface ExplainedPod extends PodExplanation {
  /** One sentence. */
  readonly summary: string;
  /** The step that holds the pod up; absent where none does. */
  readonly blocking?: ExplainedStep;
  /** Where that step is a pull, and the runtime says how far it is. */
  readonly download?: DownloadProgress;
  /** Containers that run and are not ready. */
  readonly notReady?: readonly NotReady[];
}

/** Of the layers that are under way. */
export interface DownloadProgress {
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  /** On average since the first of them began. */
  readonly bytesPerSecond?: number;
  readonly secondsLeft?: number;
}

export interface NotReady {
  readonly container: string;
  /** Of the probe that failed last; absent: none has. */
  readonly lastAnswer?: string;
  readonly at?: number;
}
