/**
 * The front door of the status: computes it from what a worker publishes, keeps the latest of each pod for all who want
 * to read it, and hands on what has changed.
 */
import { isDeepStrictEqual } from 'node:util';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodStatus, QosClass } from '../api/pod-status.ts';
import type { Clock } from '../base/clock.ts';
import { createListeners } from '../base/listeners.ts';
import type { LogValues } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Observation } from '../model/observation.ts';
import type { WaitingReason } from '../model/plan.ts';
import type { PodNews, PodStep } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import { computePodStatus } from './rules/compute-status.ts';
import { toldEnd, turnedReady } from './rules/ending.ts';
import { type Rejection, rejectedStatus } from './rules/rejected-status.ts';
import { showStatus } from './rules/shown-status.ts';
import type { EndReason, StatusGates } from './rules/status-input.ts';
import { statusView } from './rules/status-view.ts';

/** What a worker knows of its pod after a pass. */
export interface StatusView {
  readonly pod: Pod;
  readonly step: PodStep;
  readonly observation: Observation;
  readonly probes: ProbeResults;
  /** Why containers that should run do not, by name: from the plan and from the last outcomes. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** The containers that are being started now, by name. */
  readonly starting: ReadonlySet<string>;
  /** When the kubelet first had the pod, wall clock, milliseconds. */
  readonly startedAt: number;
  readonly ended?: EndReason | undefined;
  /** Why its spec's resources are not those that it has. */
  readonly resizeRefused?: string | undefined;
  /** The pod was not admitted. */
  readonly rejected?: Rejection | undefined;
}

export interface PodStatusChange {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** As others may see it: ended only when nothing of the pod runs. */
  readonly status: PodStatus;
  /** Nothing will be said of this pod any more. */
  readonly final: boolean;
}

export interface StatusDeps {
  now(): number;
  /** What probes have found by now. */
  probes(): ProbeResults;
  /** The node's own addresses, the preferred family first; empty where they are not known. */
  nodeIps(): readonly string[];
  /** What container ids begin with, such as `containerd`. */
  runtimeName(): string;
  qosClassOf(pod: Pod): QosClass;
  /** Whether the pod's runtime handler can make a whole tree of mounts read-only. */
  recursiveReadOnly(pod: Pod): boolean;
  readonly gates: StatusGates;
  /** Where changes go: the API server's patches in cluster mode. It must not throw and not take long. */
  sink(change: PodStatusChange): void;
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'guard'>;
}

export interface Statuses {
  /** What a worker publishes: every view becomes a status, until the pod is gone. */
  follow(news: PodNews): void;
  /** Computes the status anew; returns what others see of it. */
  publish(view: StatusView): PodStatus;
  /** As computed last, with the end of a pod that still has something running. */
  computed(uid: PodUid): PodStatus | undefined;
  /** As others see it. */
  get(uid: PodUid): PodStatus | undefined;
  list(): readonly PodStatusChange[];
  /** Called on each change, after the sink. The name is for the log. Returns the way to end it. */
  subscribe(name: string, listener: (change: PodStatusChange) => void): () => void;
  /** The pod is gone. */
  forget(uid: PodUid): void;
}

interface Entry {
  readonly step: PodStep;
  readonly computed: PodStatus;
  readonly change: PodStatusChange;
}

export function createStatus(deps: StatusDeps): Statuses {
  const entries = new Map<PodUid, Entry>();
  const { clock, supervisor } = deps;
  const listeners = createListeners<PodStatusChange>({ supervisor, clock, keyOf: ({ uid }) => uid, about: aboutPod });
  listeners.add('status sink', deps.sink);

  function compute(view: StatusView, previous: PodStatus | undefined): PodStatus {
    const { pod, rejected, ended, startedAt } = view;
    const qosClass = pod.status?.qosClass ?? deps.qosClassOf(pod);
    if (rejected !== undefined) return rejectedStatus({ pod, rejection: rejected, previous, qosClass, startedAt });
    return computePodStatus({
      ...view,
      ended,
      previous,
      qosClass,
      nodeIps: deps.nodeIps(),
      runtimeName: deps.runtimeName(),
      recursiveReadOnly: deps.recursiveReadOnly(pod),
      now: deps.now(),
      gates: deps.gates,
    });
  }

  /** A pod that ends is told of when it begins to and when nothing of it runs any more: what stops in between is of no use to others. */
  function isHeldBack(before: PodStatusChange, next: PodStatusChange): boolean {
    const ends = entries.get(next.uid)?.step === 'terminating';
    return ends && before.pod === next.pod && !turnedReady(before.status, next.status);
  }

  function publish(view: StatusView): PodStatus {
    const uid = podUid(view.pod.metadata.uid);
    const before = entries.get(uid);
    // The end has been told with all its exit codes: what the runtime forgets later changes nothing.
    if (before?.change.final === true) return before.change.status;
    const step = view.rejected === undefined ? view.step : 'terminated';
    const told = before === undefined && step === 'terminated' ? toldEnd(view.pod) : undefined;
    const computed = told ?? compute(view, before?.computed);
    const status = showStatus({ computed, shown: before?.change.status ?? view.pod.status, step });
    const change = { uid, pod: view.pod, status, final: step === 'terminated' };
    if (before !== undefined && before.step === step && isHeldBack(before.change, change)) {
      entries.set(uid, { ...before, computed });
      return before.change.status;
    }
    entries.set(uid, { step, computed, change });
    const same = before !== undefined && before.change.final === change.final;
    if (!same || !isDeepStrictEqual(before.change.status, status)) {
      listeners.tell(change);
    }
    return status;
  }

  return {
    follow: (news) => {
      if (news.kind === 'gone') entries.delete(news.uid);
      else publish(statusView(news.view, deps.probes()));
    },
    publish,
    computed: (uid) => entries.get(uid)?.computed,
    get: (uid) => entries.get(uid)?.change.status,
    list: () => [...entries.values()].map(({ change }) => change),
    subscribe: listeners.add,
    forget(uid) {
      entries.delete(uid);
    },
  };
}

function aboutPod({ uid, pod: { metadata } }: PodStatusChange): LogValues {
  return { pod: `${metadata.namespace}/${metadata.name}`, podUID: uid };
}
