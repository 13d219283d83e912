/** Which pods get the resources that their changed specs request, and how far each of them is. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type Allocation, allocationOf, type PodResize } from '../model/allocation.ts';
import type { Allocations } from './allocations.ts';
import type { Admission } from './pods.ts';
import { fullName } from './rules/full-name.ts';
import { orderResizes, type PendingPod } from './rules/resize-order.ts';
import { type RequestedResize, requestedResizes, resizeMessage } from './rules/resize-report.ts';
import { nextResize, type ResizeEvent, reportedResize } from './rules/resize-state.ts';
import type { WorkerDeps } from './worker-deps.ts';

/** What made room, or made another look worthwhile; as metrics name it. */
export type RetryTrigger =
  | 'pod_resized'
  | 'pod_updated'
  | 'pods_added'
  | 'pods_removed'
  | 'pod_terminated'
  | 'periodic_retry';

export interface ResizeMeter {
  requested(resize: RequestedResize): void;
  infeasible(detail: string): void;
  deferredAccepted(trigger: RetryTrigger): void;
}

export interface ResizesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: WorkerDeps['record'];
  readonly admit: (pod: Pod, admitted: readonly Pod[]) => Admission;
  /** Why these resources can never be given to the pod, with a word for metrics; undefined where nothing is against it. */
  readonly infeasible?:
    | ((requested: Pod, allocated: Pod) => { message: string; detail: string } | undefined)
    | undefined;
  readonly resizeMeter?: ResizeMeter | undefined;
}

export interface ResizesTools {
  readonly allocations: Allocations;
  readonly podLevel: boolean;
  /** Pods are to be reconciled again: resizes that wait may fit now. */
  readonly retry: (trigger: RetryTrigger) => void;
  readonly preempt: (pod: Pod, victims: Extract<Admission, { kind: 'preempt' }>['victims']) => void;
  /** The conditions of this pod have changed, and nothing else. */
  readonly publish: (uid: PodUid) => void;
}

export interface Resizes {
  /**
   * Gives each of these pods what it requests where that fits beside the admitted ones. Answers the pods as they are then. All of them
   * must have been admitted before: a resize must not take what is allocated to a pod that is not known yet.
   */
  judge(pods: readonly Pod[], admitted: readonly Pod[], trigger: RetryTrigger): readonly Pod[];
  /** These pods begin here: later specs are compared with these. */
  arrived(pods: readonly Pod[]): void;
  /** What a pass has seen, or why it could not resize the pod. */
  observed(pod: Pod, resizing: boolean): void;
  failed(pod: Pod, message: string): void;
  of(uid: PodUid): PodResize | undefined;
  forget(uid: PodUid): void;
  stop(): void;
}

/** A resize that was deferred for another reason than missing resources is judged again after this time. */
const RETRY_MS = 180_000;
const DEFERRED_BY_PREEMPTION = 'Other pods must end first, to make room for this critical pod';
const TITLES = { Started: 'Pod resize started', Completed: 'Pod resize completed', Error: 'Pod resize error' };

export function createResizes(deps: ResizesDeps, tools: ResizesTools): Resizes {
  const { clock } = deps;
  const { allocations, podLevel } = tools;
  const alarm = createAlarm(clock, () => tools.retry('periodic_retry'));
  const states = createStates(deps, podLevel);
  const judgeOne = createJudge(deps, tools, { states, retryLater: () => alarm.ringAt(clock.now() + RETRY_MS) });

  return {
    judge: (pods, admitted, trigger) => {
      const pending = new Map<Pod, PendingPod>();
      for (const pod of pods) {
        const requested = allocations.requested(pod);
        states.countRequest(requested ?? pod);
        if (requested !== undefined)
          pending.set(pod, { requested, allocated: pod, since: states.of(requested).pending?.since });
        else if (states.apply(pod, { kind: 'settled' })) tools.publish(podUid(pod.metadata.uid));
      }
      if (pending.size === 0) return pods;
      const reserved = new Map(admitted.map((pod) => [pod.metadata.uid, allocations.reserved(pod)]));
      const results = new Map<Pod, Pod>();
      for (const one of orderResizes([...pending.values()], { podLevel })) {
        if (!judgeOne(one, [...reserved.values()], trigger)) continue;
        const result = allocations.withAllocated(one.requested);
        results.set(one.allocated, result);
        reserved.set(result.metadata.uid, allocations.reserved(result));
      }
      return pods.map((pod) => results.get(pod) ?? pod);
    },
    arrived: (pods) => {
      for (const pod of pods) states.countRequest(allocations.requested(pod) ?? pod);
    },
    observed: (pod, resizing) => {
      const had = states.of(pod).inProgress !== undefined;
      states.apply(pod, { kind: 'observed', resizing, generation: pod.metadata.generation ?? 0 });
      if (had && !resizing && states.anyDeferred()) tools.retry('pod_resized');
    },
    failed: (pod, message) => {
      states.apply(pod, { kind: 'failed', message, generation: pod.metadata.generation ?? 0 });
    },
    of: states.known,
    forget: states.forget,
    stop: alarm.clear,
  };
}

interface States {
  of(pod: Pod): PodResize;
  known(uid: PodUid): PodResize | undefined;
  /** Answers whether the conditions are others than before. `cause`: the word of the event, where the reason is not it. */
  apply(pod: Pod, event: ResizeEvent, cause?: string): boolean;
  /** Counts what this spec requests otherwise than the last one. */
  countRequest(requested: Pod): void;
  anyDeferred(): boolean;
  forget(uid: PodUid): void;
}

interface Known {
  state: PodResize;
  /** The spec that was seen last. */
  seen: { readonly pod: Pod; readonly resources: Allocation } | undefined;
}

function createStates({ clock, record, resizeMeter }: ResizesDeps, podLevel: boolean): States {
  const known = new Map<PodUid, Known>();
  const entryOf = (pod: Pod): Known => {
    const uid = podUid(pod.metadata.uid);
    const entry = known.get(uid) ?? { state: reportedResize(pod, clock.now()), seen: undefined };
    known.set(uid, entry);
    return entry;
  };
  return {
    of: (pod) => entryOf(pod).state,
    known: (uid) => known.get(uid)?.state,
    apply: (pod, event, cause) => {
      const entry = entryOf(pod);
      const { state, report } = nextResize(entry.state, event, clock.now());
      const isChange = state !== entry.state;
      entry.state = state;
      if (report === undefined) return isChange;
      const { what, generation } = report;
      const title = what === 'Deferred' || what === 'Infeasible' ? `Pod resize ${cause ?? what}` : TITLES[what];
      const error = 'message' in event ? event.message : undefined;
      const type = what === 'Started' || what === 'Completed' ? 'Normal' : 'Warning';
      record({
        pod: pod.metadata,
        type,
        reason: `Resize${what}`,
        message: resizeMessage(pod, { title, generation, error }),
      });
      return isChange;
    },
    countRequest: (requested) => {
      const entry = entryOf(requested);
      if (entry.seen?.pod === requested) return;
      const resources = allocationOf(requested, { podLevel });
      const before = entry.seen?.resources;
      entry.seen = { pod: requested, resources };
      if (before !== undefined) for (const one of requestedResizes(before, resources)) resizeMeter?.requested(one);
    },
    anyDeferred: () => [...known.values()].some(({ state }) => state.pending?.reason === 'Deferred'),
    forget: (uid) => void known.delete(uid),
  };
}

/** Decides whether one pod gets what it requests beside the admitted ones. */
function createJudge(
  { log, infeasible, admit, resizeMeter }: ResizesDeps,
  { allocations, preempt, publish }: ResizesTools,
  { states, retryLater }: { readonly states: States; readonly retryLater: () => void },
): (pending: PendingPod, admitted: readonly Pod[], trigger: RetryTrigger) => boolean {
  const refuse = (pod: Pod, reason: 'Deferred' | 'Infeasible', message: string, cause: string): void => {
    const generation = pod.metadata.generation ?? 0;
    log.v(2)?.info('Pod resize is not accepted', { pod: fullName(pod.metadata), reason, message });
    if (states.apply(pod, { kind: 'refused', reason, message, generation }, cause)) publish(podUid(pod.metadata.uid));
    if (reason === 'Deferred') retryLater();
  };

  return ({ requested, allocated }, admitted, trigger) => {
    const generation = requested.metadata.generation ?? 0;
    const { pending } = states.of(requested);
    if (pending?.reason === 'Infeasible' && pending.generation === generation) return false;
    const never = infeasible?.(requested, allocated);
    if (never !== undefined) {
      resizeMeter?.infeasible(never.detail);
      refuse(requested, 'Infeasible', never.message, 'Infeasible');
      return false;
    }
    const admission = admit(requested, admitted);
    if (admission.kind === 'rejected') refuse(requested, 'Deferred', admission.message, admission.reason);
    if (admission.kind === 'preempt') {
      refuse(requested, 'Deferred', DEFERRED_BY_PREEMPTION, 'Deferred');
      preempt(requested, admission.victims);
    }
    if (admission.kind !== 'admitted') return false;
    if (pending?.reason === 'Deferred')
      resizeMeter?.deferredAccepted(pending.generation === generation ? trigger : 'pod_updated');
    allocations.allocate(requested);
    states.apply(requested, { kind: 'accepted', generation });
    return true;
  };
}
