/** The workers of this node, reconciled with the desired pods of the sources and with what is on the node. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import { createListeners } from '../base/listeners.ts';
import type { LogValues } from '../base/logger.ts';
import type { FoundPod, PodIdentity } from '../model/pod-identity.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import type { Allocations } from './allocations.ts';
import { admittedPods, createArriving, createPreempt } from './arriving.ts';
import { createAssignments } from './assignments.ts';
import type { EndingStore } from './endings.ts';
import { createIdentities } from './identities.ts';
import { createIsolation, type Isolation } from './isolation.ts';
import { createOrphans } from './orphans.ts';
import type { EndRequest } from './pass.ts';
import { createPodTable, type PodTable } from './pod-table.ts';
import type { Desired, PodsDeps } from './pods.ts';
import { createResizes, type Resizes, type RetryTrigger } from './resizes.ts';
import { planArrivals, replacedNames, updateFor } from './rules/arrivals.ts';
import { fullName } from './rules/full-name.ts';
import type { WorkerState } from './rules/worker-state.ts';
import { createWorker, type Worker } from './worker.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface PodSet {
  /** What is on the node, including what other kubelets left there. */
  found(pods: readonly FoundPod[]): void;
  /** Only a directory is left of these; what is known about them from elsewhere stays. */
  foundOnDisk(uids: readonly PodUid[]): void;
  reconcile(desired: Desired, signal: AbortSignal): Promise<void>;
  worker(uid: PodUid): Worker | undefined;
  workers(): readonly Worker[];
  /** The one way to end a pod that would run on. */
  end(uid: PodUid, request: EndRequest): void;
  /** Static pods that ended because the node was closed begin again. */
  reopen(): void;
  views(): readonly PodView[];
  view(uid: PodUid): PodView | undefined;
  /** The name is for the log. An exception of one listener is reported and reaches no one else. */
  subscribe(name: string, listener: (update: PodUpdate) => void): () => void;
  /** Pods that wait for particular resources of the node are assigned again. */
  assignableChanged(): void;
  /** For each worker: how long its pass under way has lasted, ms. */
  busy(): readonly number[];
  /** Resolves when every worker has ended, after the kubelet's signal. */
  stopped(): Promise<void>;
}

export interface PodSetTools {
  readonly endings: EndingStore;
  readonly allocations: Allocations;
  /** The gates of pod-level resources, and of resizing them. */
  readonly podLevel: boolean;
  readonly takeTurn: WorkerDeps['takeTurn'];
  readonly removals: WorkerDeps['removals'];
  /** A pod has ended or is gone, or its next try is due: pods that waited for that may begin. */
  readonly requestReconcile: () => void;
}

export function createPodSet(deps: PodsDeps, tools: PodSetTools): PodSet {
  const { clock, log, supervisor, record } = deps;
  const { allocations, requestReconcile } = tools;
  const table = createPodTable();
  const listeners = createListeners<PodUpdate>({ supervisor, clock, keyOf: uidOf, about: aboutPod });
  const isolation = createIsolation({ clock, log, record, onDue: requestReconcile });
  const end: PodSet['end'] = (uid, request) => table.worker(uid)?.end(request);
  const preempt = createPreempt(deps, { table, end });
  let trigger: RetryTrigger = 'pods_added';
  const retry = (cause: RetryTrigger): void => {
    trigger = cause;
    requestReconcile();
  };
  const publish = (uid: PodUid): void => table.worker(uid)?.wake('resize-judged');
  const resizes = createResizes(deps, { ...tools, retry, preempt, publish });
  const begin = createBegin(deps, { ...tools, resizes, retry }, table, listeners.notify);
  const orphans = createOrphans(deps, { ...tools, table, begin });
  const assignments = createAssignments({ log, record, assigning: deps.assigning, onAnswer: requestReconcile });
  const arrive = createArriving(deps, { ...tools, table, isolation, begin, end, preempt, assignments });
  const identify = createIdentities(deps, {
    isolation,
    allFound: table.allFound,
    withAllocated: allocations.withAllocated,
  });

  return {
    found: (pods) => {
      table.setFound(pods);
      for (const worker of table.workers()) worker.wake('runtime-listed');
    },
    foundOnDisk: table.addFound,
    reconcile: async ({ pods: given, everySourceHeard, heard }, signal) => {
      const { pods: identified, unsure } = identify(given);
      const { settled, fresh } = bySettled(identified, table);
      const arriving = fresh.filter(({ metadata }) => table.worker(podUid(metadata.uid)) === undefined);
      // After a restart every pod is admitted with what it has before any gets more.
      const judged = everySourceHeard ? resizes.judge(settled, admittedPods(table), trigger) : settled;
      const pods = [...judged, ...fresh];
      trigger = 'pods_added';
      await allocations.save();
      const desired = new Map(pods.map((pod) => [podUid(pod.metadata.uid), pod]));
      const isDesired = (uid: PodUid) => desired.has(uid);
      const replaced = replacedNames(pods, heard);
      const isUnwanted = (pod: PodIdentity) =>
        !isDesired(pod.uid) && !unsure.has(fullName(pod)) && (everySourceHeard || replaced.has(fullName(pod)));
      table.forgetOver(isDesired);
      isolation.keepOnly(new Set([...given, ...pods].map(({ metadata }) => metadata.uid)));
      for (const worker of table.workers()) updateWorker(worker, desired.get(worker.uid), isUnwanted, isolation);
      if (everySourceHeard) await orphans.forget(isDesired);
      orphans.end(isUnwanted, signal);
      const present = [...table.workers().map((worker) => worker.state().pod.metadata), ...table.orphans()];
      // What an earlier kubelet left running may not be known as unwanted yet: a pod of the same name must not run beside it.
      const leftRunning = table.allFound().filter(({ uid, alive }) => alive && !isDesired(uid));
      const isAlive = (uid: string) => table.found(podUid(uid))?.alive === true;
      const mayArrive = pods.filter(({ metadata }) => table.entry(podUid(metadata.uid))?.kind !== 'over');
      await arrive(planArrivals({ desired: mayArrive, present: [...present, ...leftRunning], isAlive }), signal);
      await allocations.save();
      resizes.arrived(arriving);
      const isPending = (pod: Pod) => allocations.requested(pod) !== undefined;
      if (arriving.some((pod) => isPending(pod) && table.worker(podUid(pod.metadata.uid)) !== undefined))
        requestReconcile();
    },
    worker: table.worker,
    workers: table.workers,
    end,
    reopen: () => {
      for (const worker of table.workers()) {
        const state = worker.state();
        const end = state.step === 'terminating' || state.step === 'terminated' ? state.end : undefined;
        if (isStaticPod(state.pod) && end?.whileClosed) worker.send({ kind: 'removed', again: true });
      }
    },
    views: () => [...table.views.values()],
    view: (uid) => table.views.get(uid),
    subscribe: listeners.add,
    assignableChanged: assignments.changed,
    busy: () => table.workers().map((worker) => worker.busyFor()),
    stopped: async () => {
      listeners.stop();
      isolation.stop();
      resizes.stop();
      await Promise.all(table.workers().map((worker) => worker.start()));
    },
  };
}

/** Those that have a worker, and those that begin now. */
function bySettled(pods: readonly Pod[], table: PodTable) {
  const isSettled = ({ metadata }: Pod) => table.worker(podUid(metadata.uid))?.state().step === 'syncing';
  return { settled: pods.filter(isSettled), fresh: pods.filter((pod) => !isSettled(pod)) };
}

interface BeginTools extends PodSetTools {
  readonly resizes: Resizes;
  readonly retry: (trigger: RetryTrigger) => void;
}

/** Makes the worker of a pod and starts it. */
function createBegin(
  deps: PodsDeps,
  { endings, allocations, resizes, retry, takeTurn, removals }: BeginTools,
  table: PodTable,
  notify: (update: PodUpdate) => void,
): (state: WorkerState, signal: AbortSignal) => void {
  let tickets = 0;
  const nextTicket = () => {
    tickets += 1;
    return tickets;
  };

  const publish = (given: PodView): void => {
    const asked = allocations.requested(given.pod);
    const resize = resizes.of(given.uid);
    const inForce = allocations.inForce(given.uid);
    const view = { ...given, ...(asked && { asked }), ...(resize && { resize }), ...(inForce && { inForce }) };
    const before = table.views.get(view.uid);
    table.views.set(view.uid, view);
    if (view.step === 'terminated' && before?.step !== 'terminated') retry('pod_terminated');
    notify({ kind: 'view', view });
  };
  const explain: WorkerDeps['explain'] = (uid, explanation) => {
    const view = table.views.get(uid);
    if (view !== undefined) table.views.set(uid, { ...view, explanation });
  };
  const workerDeps: WorkerDeps = {
    ...deps,
    endings,
    takeTurn,
    removals,
    nextTicket,
    publish,
    explain,
    resizes,
    inForce: allocations.inForce,
  };

  const onDone = ({ uid, state }: Worker): void => {
    const last = state();
    if (last.step !== 'gone') return;
    table.apply(uid, { kind: 'gone', last });
    allocations.forget(uid);
    resizes.forget(uid);
    notify({ kind: 'gone', uid, pod: last.pod });
    retry('pods_removed');
  };

  return (state, signal) => {
    const uid = podUid(state.pod.metadata.uid);
    const isNew = table.found(uid) === undefined;
    const begins = table.entry(uid)?.kind === 'restarting';
    const worker = createWorker(workerDeps, { state, isNew, begins }, signal);
    // Registered first: a listener of the pod's first view may look for its worker.
    table.apply(uid, { kind: 'began', worker });
    void worker.start().then(() => onDone(worker));
  };
}

function updateWorker(
  worker: Worker,
  desired: Pod | undefined,
  isUnwanted: (pod: PodIdentity) => boolean,
  isolation: Isolation,
): void {
  const { pod } = worker.state();
  const { name, namespace } = pod.metadata;
  if (desired === undefined && !isUnwanted({ uid: worker.uid, name, namespace })) return;
  const input = updateFor(pod, desired);
  if (input === undefined) return;
  isolation.attempt(desired ?? pod, desired === undefined ? 'remove' : 'update', () => worker.send(input));
}

const uidOf = (update: PodUpdate): PodUid => (update.kind === 'gone' ? update.uid : update.view.uid);

function aboutPod(update: PodUpdate): LogValues {
  const { metadata } = update.kind === 'gone' ? update.pod : update.view.pod;
  return { pod: fullName(metadata), podUID: uidOf(update) };
}
