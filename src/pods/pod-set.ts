/** The workers of this node, kept in step with what the sources want and with what is on the node. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { hasEnded, isBeingDeleted, isStaticPod } from '../api/pod-traits.ts';
import { initialGrace } from '../plan/grace.ts';
import type { Allocations } from './allocations.ts';
import type { EndingStore } from './endings.ts';
import type { Admission, FoundPod, PodsDeps } from './pods.ts';
import { isAnotherLife, planArrivals } from './rules/arrivals.ts';
import type { WorkerState } from './rules/worker-state.ts';
import type { PodEnding, PodNews, PodView } from './view.ts';
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
  views(): readonly PodView[];
  view(uid: PodUid): PodView | undefined;
  subscribe(listener: (news: PodNews) => void): () => void;
  /** For each worker: how long its pass under way has lasted, ms. */
  busy(): readonly number[];
  broken(): readonly PodUid[];
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
  const { clock, log } = deps;
  const workers = new Map<PodUid, Worker>();
  const views = new Map<PodUid, PodView>();
  const onNode = new Map<PodUid, FoundPod>();
  const listeners = new Set<(news: PodNews) => void>();
  const broken = new Set<PodUid>();
  const orphans = new Map<PodUid, FoundPod>();
  /** Pods of which nothing is left here, while their deletion has yet to be finished at the API server. */
  const over = new Set<PodUid>();
  const identified = new WeakMap<Pod, Pod>();
  /** Pods that ended here to begin again. */
  const begins = new Set<PodUid>();
  let tickets = 0;

  const tell = (news: PodNews) => {
    for (const listener of listeners) listener(news);
  };

  const publish = (given: PodView): void => {
    const asked = allocations.asked(given.pod);
    const view = asked === undefined ? given : { ...given, asked };
    const before = views.get(view.uid);
    views.set(view.uid, view);
    if (view.step === 'terminated' && before?.step !== 'terminated') onRoom();
    tell({ kind: 'view', view });
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
        onBroken: (uid, error) => {
          broken.add(uid);
          log.error('The worker of a pod failed', { err: error, podUID: uid });
        },
      },
      { state, isNew: !onNode.has(own), begins: begins.delete(own) },
      signal,
    );
    workers.set(worker.uid, worker);
    void worker.done.then(() => {
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
      tell({ kind: 'gone', uid: worker.uid, pod });
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

  const updateWorkers = (desired: ReadonlyMap<PodUid, Pod>, everySourceHeard: boolean): void => {
    for (const [uid, worker] of workers) {
      const pod = desired.get(uid);
      if (pod === undefined) {
        if (everySourceHeard) worker.send({ kind: 'removed' });
      } else if (isAnotherLife(worker.state().pod, pod)) worker.send({ kind: 'removed', again: true });
      else if (worker.state().pod !== pod) worker.send({ kind: 'pod', pod });
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

  /** Pods that nobody wants and that are still on the node, from before this kubelet started. */
  const endOrphans = async (desired: ReadonlyMap<PodUid, Pod>, signal: AbortSignal): Promise<void> => {
    for (const uid of endings.uids()) if (!desired.has(uid) && !workers.has(uid)) await endings.remove(uid);
    for (const uid of allocations.uids()) if (!desired.has(uid) && !workers.has(uid)) allocations.forget(uid);
    for (const found of onNode.values()) {
      if (desired.has(found.uid) || workers.has(found.uid) || orphans.has(found.uid)) continue;
      void endOrphan(found, signal);
    }
  };

  const preempt = (pod: Pod, victims: readonly { readonly uid: PodUid; readonly message: string }[]): void => {
    for (const { uid, message } of victims) {
      const victim = workers.get(uid);
      if (victim?.state().step !== 'syncing') continue;
      log.info('Ending a pod to make room for a critical one', { podUID: uid, for: pod.metadata.name });
      deps.record({ pod: victim.state().pod.metadata, type: 'Warning', reason: PREEMPTED.reason, message });
      victim.send({ kind: 'end', end: { ...PREEMPTED, message, disruption: DISRUPTED }, graceSeconds: undefined });
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
        if (!arrive(pod, admitted, signal)) continue;
        admitted.push(pod);
        beginning.push(pod);
        allocations.grant(pod);
      }
      await allocations.save();
      for (const pod of beginning) begin({ step: 'syncing', pod }, signal);
    }
  };

  return {
    found: (pods) => {
      onNode.clear();
      for (const pod of pods) onNode.set(pod.uid, pod);
      for (const worker of workers.values()) worker.retry();
    },
    reconcile: async ({ pods: given, everySourceHeard }, signal) => {
      const pods = given.flatMap(identify).map(allocations.hold);
      const desired = new Map(pods.map((pod) => [podUid(pod.metadata.uid), pod]));
      for (const uid of over) if (!desired.has(uid)) over.delete(uid);
      updateWorkers(desired, everySourceHeard);
      if (everySourceHeard) await endOrphans(desired, signal);
      const present = [...workers.values()].map((worker) => worker.state().pod.metadata);
      const isAlive = (uid: string) => onNode.get(podUid(uid))?.alive === true;
      const arriving = pods.filter(({ metadata }) => !over.has(podUid(metadata.uid)));
      const arrivals = planArrivals({ desired: arriving, present: [...present, ...orphans.values()], isAlive });
      await arriveAll(arrivals, signal);
      await allocations.save();
    },
    worker: (uid) => workers.get(uid),
    views: () => [...views.values()],
    view: (uid) => views.get(uid),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    busy: () => [...workers.values()].map((worker) => worker.busyFor()),
    broken: () => [...broken],
    stopped: async () => {
      await Promise.all([...workers.values()].map(({ done }) => done));
    },
  };
}
