/** Begins pods that the sources have and that have no worker yet: admission, rejection, preemption of others. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import { assertNever } from '../base/assert-never.ts';
import type { PodExplanation } from '../model/explanation.ts';
import type { PodEnding } from '../model/pod-view.ts';
import { explainPreemption } from '../plan/explain.ts';
import type { Assignments } from './assignments.ts';
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
  readonly preempt: (pod: Pod, victims: Victims) => void;
  readonly assignments: Assignments;
}

type Rejection = Pick<Extract<Admission, { kind: 'rejected' }>, 'reason' | 'message' | 'whileClosed'>;
type Victims = Extract<Admission, { kind: 'preempt' }>['victims'];

const ARRIVALS_AT_ONCE = 25;

/** The pods that a new one is admitted beside. */
interface Beside {
  readonly admitted: readonly Pod[];
  /** Admitted, if what they need of the node's particular resources is assigned to them. */
  readonly undecided: readonly Pod[];
}

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

/** Explains once why a pod waits. It has no worker yet, and so no view. */
function createWaiting({ clock, log }: Pick<PodsDeps, 'clock' | 'log'>, table: PodTable) {
  const waiting = new Set<PodUid>();
  return {
    explain: (pod: Pod, victims: Victims): void => {
      const uid = podUid(pod.metadata.uid);
      if (waiting.has(uid)) return;
      waiting.add(uid);
      const ending = victims.flatMap((victim) => {
        const worker = table.worker(victim.uid);
        return worker === undefined ? [] : [identityOf(worker.state().pod)];
      });
      const explanation = explainPreemption(identityOf(pod), ending, clock.now());
      log.v(4)?.info('Explanation of pod', { pod: fullName(pod.metadata), podUID: uid, explanation });
    },
    keepOnly: (pods: readonly Pod[]): void => {
      const uids = new Set(pods.map(({ metadata }) => podUid(metadata.uid)));
      for (const uid of waiting) if (!uids.has(uid)) waiting.delete(uid);
    },
  };
}

function identityOf({ metadata: { uid, namespace, name } }: Pod): PodExplanation['pod'] {
  return { uid, namespace, name };
}

export function createArriving(
  deps: PodsDeps,
  tools: ArrivingTools,
): (arrivals: readonly Pod[], signal: AbortSignal) => Promise<void> {
  const { clock } = deps;
  const { endings, allocations, table, isolation, begin, preempt, assignments } = tools;
  const waiting = createWaiting(deps, table);

  const reject = (pod: Pod, { reason, message, whileClosed }: Rejection, signal: AbortSignal): void => {
    const closed = whileClosed === true ? { whileClosed } : {};
    const end: PodEnding = { phase: 'Failed', reason, message, rejected: true, ...closed };
    deps.record({ pod: pod.metadata, type: 'Warning', reason, message });
    begin(beginTerminated(pod, end), signal);
  };

  /** Whether the pod starts: from now on others are admitted beside it. */
  const arrive = (pod: Pod, { admitted, undecided }: Beside, signal: AbortSignal): boolean => {
    const uid = podUid(pod.metadata.uid);
    const verdict = judgeBegin({ pod, found: table.found(uid), ending: endings.of(uid), now: clock.now() });
    if (verdict.kind === 'begin') begin(verdict.state, signal);
    if (verdict.kind !== 'admit') return verdict.kind === 'resume';
    const admission = deps.admit(pod, [...admitted, ...undecided]);
    // What is refused to another pod may be this one's: only then is it rejected, or are others ended for it.
    if (admission.kind !== 'admitted' && undecided.length > 0 && deps.admit(pod, admitted).kind === 'admitted')
      return false;
    switch (admission.kind) {
      case 'admitted': {
        const assigned = assignments.of(pod, signal);
        if (assigned?.kind === 'refused') reject(pod, assigned, signal);
        return assigned?.kind === 'done';
      }
      case 'preempt':
        waiting.explain(pod, admission.victims);
        preempt(pod, admission.victims);
        return false;
      case 'rejected':
        reject(pod, admission, signal);
        return false;
      default:
        return assertNever(admission);
    }
  };

  /** The machine was booted again, or its shutdown was cancelled while no kubelet ran. */
  const forgetClosed = async (arrivals: readonly Pod[]): Promise<void> => {
    if (deps.isClosed?.() === true) return;
    for (const pod of arrivals.filter(isStaticPod)) {
      const uid = podUid(pod.metadata.uid);
      if (endings.of(uid)?.end?.whileClosed) await endings.remove(uid);
    }
  };

  return async (arrivals, signal) => {
    waiting.keepOnly(arrivals);
    assignments.keepOnly(arrivals);
    if (arrivals.length === 0) return;
    await forgetClosed(arrivals);
    const admitted = admittedPods(table).map(allocations.reserved);
    for (let first = 0; first < arrivals.length; first += ARRIVALS_AT_ONCE) {
      // With thousands of arrivals, other work must get its turn in between.
      if (first > 0) await clock.sleep(0, signal);
      const starting: Pod[] = [];
      for (const pod of arrivals.slice(first, first + ARRIVALS_AT_ONCE)) {
        isolation.attempt(pod, 'admit', () => {
          const undecided = assignments.underWay().filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
          if (!arrive(pod, { admitted, undecided }, signal)) return;
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
