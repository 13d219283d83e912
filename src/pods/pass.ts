/** What one pass of a worker works with. */
import type { Pod } from '../api/pod.ts';
import type { Observation } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import type { PodEnding } from '../model/pod-view.ts';
import type { Decision } from '../plan/plan-ahead.ts';
import type { WorkerInput } from './rules/worker-state.ts';

export interface Pass {
  readonly pod: Pod;
  /** Aborts when the pod must end, and when the kubelet stops. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
  /** Another pass is due, to observe what this one did. */
  wake(): void;
  /** Another pass is due at this wall-clock time. */
  lookAgainAt(time: number): void;
  send(input: WorkerInput): void;
  end(request: EndRequest): void;
  publish(observation: Observation, plan: Plan | undefined): void;
  /** Observes the pod again and publishes the result, in the middle of the pass. */
  show(plan: Plan): void;
  /**
   * The pass acts on more than the runtime has confirmed. When the runtime confirms the rest, that is published in the middle of the
   * pass, limited to the containers that existed when the pass began: those that the pass starts are published when it is over.
   */
  showWhenWoken(decision: Decision): void;
  readonly startedAt: number;
}

/** Ends a pod that would run on: eviction, preemption, its deadline. */
export interface EndRequest {
  readonly end: PodEnding;
  /** Undefined: the pod's own. */
  readonly graceSeconds: number | undefined;
  /** The type of the event that reports the end, with its reason and message; undefined: there is none. */
  readonly eventType: 'Normal' | 'Warning' | undefined;
  /** Of the event. */
  readonly annotations?: Readonly<Record<string, string>>;
}
