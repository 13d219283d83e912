/** In which state the worker of a pod begins. */
import type { Pod } from '../../api/pod.ts';
import { hasEnded, isBeingDeleted, isStaticPod } from '../../api/pod-traits.ts';
import type { FoundPod } from '../../model/pod-identity.ts';
import type { PodEnding } from '../../model/pod-view.ts';
import { initialGrace } from '../../plan/grace.ts';
import type { WorkerState } from './worker-state.ts';

export interface BeginInput {
  readonly pod: Pod;
  /** What is on the node of it; undefined: nothing. */
  readonly found: FoundPod | undefined;
  /** How it ended under an earlier kubelet; undefined: it has not ended. */
  readonly ending: { readonly end: PodEnding | undefined } | undefined;
  /** Wall clock, ms. */
  readonly now: number;
}

export type BeginVerdict =
  | { readonly kind: 'begin'; readonly state: WorkerState }
  /** Its containers run already: it is not admitted again. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'admit' };

export function judgeBegin({ pod, found, ending, now }: BeginInput): BeginVerdict {
  if (isBeingDeleted(pod) || (hasEnded(pod) && !isStaticPod(pod))) {
    const state =
      found === undefined
        ? beginTerminated(pod, undefined)
        : beginTermination(pod, { now, end: ending?.end, deleted: false });
    return { kind: 'begin', state };
  }
  if (ending?.end?.rejected && found === undefined) return { kind: 'begin', state: beginTerminated(pod, ending.end) };
  if (ending !== undefined) {
    return { kind: 'begin', state: beginTermination(pod, { now, end: ending.end, deleted: false }) };
  }
  return { kind: found?.alive === true ? 'resume' : 'admit' };
}

export interface TerminationStart {
  readonly now: number;
  readonly end: PodEnding | undefined;
  readonly deleted: boolean;
}

export function beginTermination(pod: Pod, { now, end, deleted }: TerminationStart): WorkerState {
  return { step: 'terminating', pod, since: now, graceSeconds: initialGrace(pod), end, deleted };
}

/** Nothing of it runs. */
export function beginTerminated(pod: Pod, end: PodEnding | undefined): WorkerState {
  return { step: 'terminated', pod, end, deleted: isBeingDeleted(pod) };
}
