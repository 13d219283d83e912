/** Begins pods that the sources have and that have no worker yet: admission, rejection, preemption of others. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { assertNever } from '../base/assert-never.ts';
import type { PodEnding } from '../model/pod-view.ts';
import type { Isolation } from './isolation.ts';
import type { EndRequest } from './pass.ts';
import type { PodSetTools } from './pod-set.ts';
import type { PodTable } from './pod-table.ts';
import type { Admission, PodsDeps } from './pods.ts';
import { beginTerminated, judgeBegin } from './rules/begin-state.ts';
import { fullName } from './rules/full-name.ts';
import { preemptionEnd } from './rules/preemption.ts';
import type { WorkerState } from './rules/worker-state.ts';

export interface ArrivingTools extends Pick<PodSetTools, 'endings' | 'allocations'> {
  readonly table: PodTable;
  readonly isolation: Isolation;
  readonly begin: (state: WorkerState, signal: AbortSignal) => void;
  readonly end: (uid: PodUid, request: EndRequest) => void;
  readonly preempt: (pod: Pod, victims: Extract<Admission, { kind: 'preempt' }>['victims']) => void;
}

const ARRIVALS_AT_ONCE = 25;

/** Ends pods for a critical one. */
export function createPreempt(
  { log }: Pick<PodsDeps, 'log'>,
  { table, end }: Pick<ArrivingTools, 'table' | 'end'>,
): ArrivingTools['preempt'] {
  return (pod, victims) => {
    for (const { uid, message } of victims) {
      const state = table.worker(uid)?.state();
      // A pod that ends already frees its resources without being preempted.
      if (state?.step !== 'syncing') continue;
      const victim = { pod: fullName(state.pod.metadata), podUID: uid };
      log.info('Preempting pod to free up resources', { ...victim, requestingPod: fullName(pod.metadata) });
      end(uid, { end: preemptionEnd(message), graceSeconds: undefined, eventType: 'Warning' });
    }
  };
}

export function createArriving(
  deps: PodsDeps,
  tools: ArrivingTools,
): (arrivals: readonly Pod[], signal: AbortSignal) => Promise<void> {
  const { clock } = deps;
  const { endings, allocations, table, isolation, begin, preempt } = tools;

  const reject = (pod: Pod, reason: string, message: string, signal: AbortSignal): void => {
    const end: PodEnding = { phase: 'Failed', reason, message, rejected: true };
    deps.record({ pod: pod.metadata, type: 'Warning', reason, message });
    begin(beginTerminated(pod, end), signal);
  };

  /** Whether the pod starts: from now on others are admitted beside it. */
  const arrive = (pod: Pod, admitted: readonly Pod[], signal: AbortSignal): boolean => {
    const uid = podUid(pod.metadata.uid);
    const verdict = judgeBegin({ pod, found: table.found(uid), ending: endings.of(uid), now: clock.now() });
    if (verdict.kind === 'begin') begin(verdict.state, signal);
    if (verdict.kind !== 'admit') return verdict.kind === 'resume';
    const admission = deps.admit(pod, admitted);
    switch (admission.kind) {
      case 'admitted':
        return true;
      case 'preempt':
        preempt(pod, admission.victims);
        return false;
      case 'rejected':
        reject(pod, admission.reason, admission.message, signal);
        return false;
      default:
        return assertNever(admission);
    }
  };

  return async (arrivals, signal) => {
    const admitted = admittedPods(table).map(allocations.reserved);
    for (let first = 0; first < arrivals.length; first += ARRIVALS_AT_ONCE) {
      // With thousands of arrivals, other work must get its turn in between.
      if (first > 0) await clock.sleep(0, signal);
      const starting: Pod[] = [];
      for (const pod of arrivals.slice(first, first + ARRIVALS_AT_ONCE)) {
        isolation.attempt(pod, 'admit', () => {
          if (!arrive(pod, admitted, signal)) return;
          allocations.grant(pod);
          admitted.push(pod);
          starting.push(pod);
        });
      }
      await allocations.save();
      for (const pod of starting) isolation.attempt(pod, 'begin', () => begin({ step: 'syncing', pod }, signal));
    }
  };
}

/** The pods that take something of the node. */
export function admittedPods(table: PodTable): readonly Pod[] {
  const states = table.workers().map((worker) => worker.state());
  return states.filter(({ step }) => step === 'syncing' || step === 'terminating').map(({ pod }) => pod);
}
