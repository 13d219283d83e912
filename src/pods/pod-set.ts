/** The workers of this node, kept in step with what the sources want and with what is on the node. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { hasEnded, isBeingDeleted, isStaticPod } from '../api/pod-traits.ts';
import { createListeners } from '../base/listeners.ts';
import type { LogValues } from '../base/logger.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { PodEnding, PodNews, PodView } from '../model/pod-view.ts';
import { initialGrace } from '../plan/grace.ts';
import type { Allocations } from './allocations.ts';
import type { EndingStore } from './endings.ts';
import { createIsolation } from './isolation.ts';
import type { EndRequest } from './pass.ts';
import type { Admission, PodsDeps } from './pods.ts';
import { RESIZE_REFUSED } from './rules/allocation.ts';
import { isAnotherLife, planArrivals } from './rules/arrivals.ts';
import type { WorkerState } from './rules/worker-state.ts';
import { createWorker, type Worker } from './worker.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Desired {
  readonly pods: readonly Pod[];
  readonly everySourceHeard: boolean;
}

export interface PodSet {
  /** What is on the node, whoever put it there. */
  found(pods: readonly FoundPod[]): void;
  reconcile(desired: Desired, signal: AbortSignal): Promise<void>;
  worker(uid: PodUid): Worker | undefined;
  /** The one way to end a pod that would run on: eviction, preemption, shutdown. */
  end(uid: PodUid, request: EndRequest): void;
  views(): readonly PodView[];
  view(uid: PodUid): PodView | undefined;
  /** The name is for the log: what the listener throws is reported and reaches no one else. */
  subscribe(name: string, listener: (news: PodNews) => void): () => void;
  /** For each worker: how long its pass under way has lasted, ms. */
  busy(): readonly number[];
  /** Resolves when every worker has ended, after the kubelet's signal. */
  stopped(): Promise<void>;
}

export interface PodSetTools {
  readonly endings: EndingStore;
  readonly allocations: Allocations;
  readonly takeTurn: WorkerDeps['takeTurn'];
  /** A pod has ended or gone: others may have waited for that. */
  readonly onRoom: () => void;
}

const ORPHAN_RETRY_MS = 1000;
const ARRIVALS_AT_ONCE = 25;
const PREEMPTED: Omit<PodEnding, 'message'> = { phase: 'Failed', reason: 'Preempting' };
const DISRUPTED = {
  reason: 'TerminationByKubelet',
  message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

export function createPodSet(deps: PodsDeps, tools: PodSetTools): PodSet {
  const { endings, allocations, takeTurn, onRoom } = tools;
  const { clock, log, supervisor } = deps;
  const workers = new Map<PodUid, Worker>();
  const views = new Map<PodUid, PodView>();
  const onNode = new Map<PodUid, FoundPod>();
  const listeners = createListeners<PodNews>({ supervisor, clock, keyOf: uidOf, about: aboutPod });
  const isolation = createIsolation({ clock, log, record: deps.record, onDue: onRoom });
  const orphans = new Map<PodUid, FoundPod>();
  /** Pods of which nothing is left here, while their deletion has yet to be finished at the API server. */
  const over = new Set<PodUid>();
  const identified = new WeakMap<Pod, Pod>();
  /** Pods that ended here to begin again. */
  const begins = new Set<PodUid>();
  let tickets = 0;

  const publish = (given: PodView): void => {
    const asked = allocations.asked(given.pod);
    const view = asked === undefined ? given : { ...given, asked, resizeRefused: RESIZE_REFUSED };
    const before = views.get(view.uid);
    views.set(view.uid, view);
    if (view.step === 'terminated' && before?.step !== 'terminated') onRoom();
    listeners.tell({ kind: 'view', view });
  };

  const begin = (state: WorkerState, signal: AbortSignal): void => {
    const own = podUid(state.pod.metadata.uid);
    const worker = createWorker(
      {
        ...deps,
        endings,
        takeTurn,
        publish,
        nextTicket: () => {
          tickets += 1;
          return tickets;
        },
      },
      { state, isNew: !onNode.has(own), begins: begins.delete(own) },
      signal,
    );
    // Registered first: whoever hears of the pod's first view may look for its worker.
    workers.set(worker.uid, worker);
    void worker.start().then(() => {
      const last = worker.state();
      if (last.step !== 'gone') return;
      const { pod } = last;
      const { name, namespace } = pod.metadata;
      workers.delete(worker.uid);
      views.delete(worker.uid);
      onNode.delete(worker.uid);
      allocations.forget(worker.uid);
      if (last.again) {
        begins.add(worker.uid);
        onNode.set(worker.uid, { uid: worker.uid, name, namespace, alive: false });
      }
      if (isBeingDeleted(pod)) over.add(worker.uid);
      listeners.tell({ kind: 'gone', uid: worker.uid, pod });
      onRoom();
    });
  };

  /** None while it is not known who it is. Who did not change stays the same object. */
  const identify = (pod: Pod): readonly Pod[] => {
    if (deps.identify === undefined || !isStaticPod(pod)) return [pod];
    const { name, namespace } = pod.metadata;
    const namesakes = () => [...onNode.values()].filter((one) => one.name === name && one.namespace === namespace);
    const known = identified.get(pod) ?? deps.identify(pod, namesakes());
    if (known === undefined) return [];
    identified.set(pod, known);
    return [known];
  };

  /** The pods under the UIDs that they have here, and the names of those that could not be identified: they are left as they are. */
  const identifyAll = (
    given: readonly Pod[],
  ): { readonly pods: readonly Pod[]; readonly unsure: ReadonlySet<string> } => {
    const pods: Pod[] = [];
    const unsure = new Set<string>();
    for (const pod of given) {
      const isKnown = isolation.attempt(pod, 'identify', () => pods.push(...identify(pod).map(allocations.hold)));
      if (!isKnown) unsure.add(fullName(pod.metadata));
    }
    return { pods, unsure };
  };

  const updateWorkers = (desired: ReadonlyMap<PodUid, Pod>, isUnwanted: (pod: NamedPod) => boolean): void => {
    for (const [uid, worker] of workers) {
      const state = worker.state();
      const pod = desired.get(uid);
      if (pod === undefined) {
        if (isUnwanted({ uid, ...nameOf(state.pod) }))
          isolation.attempt(state.pod, 'remove', () => worker.send({ kind: 'removed' }));
        continue;
      }
      if (state.pod === pod) continue;
      isolation.attempt(pod, 'update', () =>
        worker.send(isAnotherLife(state.pod, pod) ? { kind: 'removed', again: true } : { kind: 'pod', pod }),
      );
    }
  };

  const endingState = (pod: Pod, end: PodEnding | undefined, deleted: boolean): WorkerState => ({
    step: 'terminating',
    pod,
    since: clock.now(),
    graceSeconds: initialGrace(pod),
    end,
    deleted,
  });

  /** There is nothing of it to stop. */
  const endedState = (pod: Pod): WorkerState => ({
    step: 'terminated',
    pod,
    end: undefined,
    deleted: isBeingDeleted(pod),
  });

  /** Not awaited: a runtime that does not answer for one of them must not hold up the set. */
  const endOrphan = async (found: FoundPod, signal: AbortSignal): Promise<void> => {
    orphans.set(found.uid, found);
    log.info('Ending a pod that no source wants', { pod: `${found.namespace}/${found.name}`, podUID: found.uid });
    try {
      begin(endingState(await deps.restorePod(found, signal), undefined, true), signal);
    } catch (error) {
      if (signal.aborted) return;
      log.v(2)?.info('Could not look at a pod that no source wants', { err: error, podUID: found.uid });
      await clock.sleep(ORPHAN_RETRY_MS, signal).catch(() => undefined);
    }
    orphans.delete(found.uid);
    onRoom();
  };

  /** Pods that no one wants and that are still on the node, from before this kubelet started. */
  const endOrphans = async (
    desired: ReadonlyMap<PodUid, Pod>,
    isUnwanted: (pod: NamedPod) => boolean,
    signal: AbortSignal,
  ): Promise<void> => {
    for (const uid of endings.uids()) if (!desired.has(uid) && !workers.has(uid)) await forgetEnding(uid);
    for (const uid of allocations.uids()) if (!desired.has(uid) && !workers.has(uid)) allocations.forget(uid);
    for (const found of onNode.values()) {
      if (workers.has(found.uid) || orphans.has(found.uid) || !isUnwanted(found)) continue;
      void endOrphan(found, signal);
    }
  };

  const forgetEnding = async (uid: PodUid): Promise<void> => {
    try {
      await endings.remove(uid);
    } catch (error) {
      log.warn('Failed to remove the record of how a pod ended, will retry', { err: error, podUID: uid });
    }
  };

  const endPod = (uid: PodUid, request: EndRequest): void => workers.get(uid)?.end(request);

  const preempt = (pod: Pod, victims: readonly { readonly uid: PodUid; readonly message: string }[]): void => {
    for (const { uid, message } of victims) {
      const victim = workers.get(uid);
      if (victim?.state().step !== 'syncing') continue;
      log.info('Ending a pod to make room for a critical one', { podUID: uid, for: pod.metadata.name });
      const end = { ...PREEMPTED, message, disruption: DISRUPTED };
      endPod(uid, { end, graceSeconds: undefined, eventType: 'Warning' });
    }
  };

  const reject = (pod: Pod, { reason, message }: { reason: string; message: string }, signal: AbortSignal): void => {
    const end: PodEnding = { phase: 'Failed', reason, message, rejected: true };
    deps.record({ pod: pod.metadata, type: 'Warning', reason, message });
    begin({ step: 'terminated', pod, end, deleted: false }, signal);
  };

  /** Whether it is admitted: then it is one of the pods that take up room from now on, and is to begin. */
  const arrive = (pod: Pod, admitted: readonly Pod[], signal: AbortSignal): boolean => {
    const uid = podUid(pod.metadata.uid);
    const ending = endings.of(uid);
    const found = onNode.get(uid);
    if (isBeingDeleted(pod) || (hasEnded(pod) && !isStaticPod(pod))) {
      begin(found === undefined ? endedState(pod) : endingState(pod, ending?.end, false), signal);
      return false;
    }
    if (ending?.end?.rejected && found === undefined) {
      begin({ step: 'terminated', pod, end: ending.end, deleted: false }, signal);
      return false;
    }
    if (ending !== undefined) {
      begin(endingState(pod, ending.end, false), signal);
      return false;
    }
    const admission: Admission = found?.alive === true ? { kind: 'admitted' } : deps.admit(pod, admitted);
    if (admission.kind === 'preempt') preempt(pod, admission.victims);
    else if (admission.kind === 'rejected') reject(pod, admission, signal);
    return admission.kind === 'admitted';
  };

  const arriveAll = async (arrivals: readonly Pod[], signal: AbortSignal): Promise<void> => {
    const states = [...workers.values()].map((worker) => worker.state());
    const admitted = states.filter(({ step }) => step === 'syncing' || step === 'terminating').map(({ pod }) => pod);
    for (let first = 0; first < arrivals.length; first += ARRIVALS_AT_ONCE) {
      // There may be thousands, and others have work to do.
      if (first > 0) await clock.sleep(0, signal);
      const beginning: Pod[] = [];
      for (const pod of arrivals.slice(first, first + ARRIVALS_AT_ONCE)) {
        isolation.attempt(pod, 'admit', () => {
          if (!arrive(pod, admitted, signal)) return;
          allocations.grant(pod);
          admitted.push(pod);
          beginning.push(pod);
        });
      }
      await allocations.save();
      for (const pod of beginning) isolation.attempt(pod, 'begin', () => begin({ step: 'syncing', pod }, signal));
    }
  };

  return {
    found: (pods) => {
      onNode.clear();
      for (const pod of pods) onNode.set(pod.uid, pod);
      for (const worker of workers.values()) worker.wake('runtime-listed');
    },
    reconcile: async ({ pods: given, everySourceHeard }, signal) => {
      const { pods, unsure } = identifyAll(given);
      const desired = new Map(pods.map((pod) => [podUid(pod.metadata.uid), pod]));
      const isUnwanted = (pod: NamedPod) => everySourceHeard && !desired.has(pod.uid) && !unsure.has(fullName(pod));
      for (const uid of over) if (!desired.has(uid)) over.delete(uid);
      isolation.keepOnly(new Set([...given, ...pods].map(({ metadata }) => metadata.uid)));
      updateWorkers(desired, isUnwanted);
      if (everySourceHeard) await endOrphans(desired, isUnwanted, signal);
      const present = [...workers.values()].map((worker) => worker.state().pod.metadata);
      const isAlive = (uid: string) => onNode.get(podUid(uid))?.alive === true;
      const arriving = pods.filter(({ metadata }) => !over.has(podUid(metadata.uid)));
      const arrivals = planArrivals({ desired: arriving, present: [...present, ...orphans.values()], isAlive });
      await arriveAll(arrivals, signal);
      await allocations.save();
    },
    worker: (uid) => workers.get(uid),
    end: endPod,
    views: () => [...views.values()],
    view: (uid) => views.get(uid),
    subscribe: listeners.add,
    busy: () => [...workers.values()].map((worker) => worker.busyFor()),
    stopped: async () => {
      listeners.stop();
      isolation.stop();
      await Promise.all([...workers.values()].map((worker) => worker.start()));
    },
  };
}

interface NamedPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
}

const nameOf = ({ metadata: { namespace, name } }: Pod) => ({ namespace, name });

const fullName = ({ namespace, name }: { readonly namespace: string; readonly name: string }) => `${namespace}/${name}`;

const uidOf = (news: PodNews): PodUid => (news.kind === 'gone' ? news.uid : news.view.uid);

function aboutPod(news: PodNews): LogValues {
  const { metadata } = news.kind === 'gone' ? news.pod : news.view.pod;
  return { pod: fullName(metadata), podUID: uidOf(news) };
}
