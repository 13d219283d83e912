/**
 * The public entry point of the pods: the set of pods that should run here, and the worker of each. Sources set the desired pods; all
 * other parts read views. `end` is the one way to end a pod that would run on.
 */

import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Part } from '../base/lifecycle.ts';
import { createTurns } from '../base/turns.ts';
import { createWakeBit } from '../base/wake.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import type { Allocations } from './allocations.ts';
import type { AssignPort } from './assignments.ts';
import { createEndingStore } from './endings.ts';
import type { EndRequest } from './pass.ts';
import { createPodSet } from './pod-set.ts';
import { createRemovals } from './removals.ts';
import type { ResizesDeps } from './resizes.ts';
import { runResync } from './resync.ts';
import type { WakeReason } from './rules/pass-state.ts';
import { type ChangedObject, waitingForObjects } from './rules/waiting-for-objects.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Desired {
  readonly pods: readonly Pod[];
  readonly everySourceHeard: boolean;
  /** Names of the sources of which all pods are among these. */
  readonly heard: ReadonlySet<string>;
}

export interface Pods extends Part {
  /**
   * All pods that the sources have now. Nothing is cleaned up before every source has reported its pods once, except what a static pod
   * of a source that has reported (`heard`) takes the name of.
   */
  setDesired(pods: readonly Pod[], everySourceHeard: boolean, heard?: ReadonlySet<string>): void;
  /** What was set last; undefined before the first time. */
  desired(): Desired | undefined;
  /** Ends a pod although its source still has it. */
  end(uid: PodUid, request: EndRequest): void;
  /** The pod's worker makes a pass. */
  wake(uid: PodUid, reason: WakeReason): void;
  /** How far a volume of this pod is has changed: its explanation is made again, and no pass. */
  volumesProgressed(uid: PodUid): void;
  /** An object of the API server has changed: containers that wait for one of its kind are started at once. */
  objectChanged(object: ChangedObject): void;
  /** The node is open again: static pods that ended or were rejected because it was closed begin again. */
  reopen(): void;
  /** The UID of a static pod can be decided now: the desired pods are reconciled again. */
  reconsider(): void;
  /** The node was listed: there may be pods that no source has. */
  found(pods: readonly FoundPod[]): void;
  /** Pods of which only a directory is left, found while the kubelet runs. */
  foundOnDisk(uids: readonly PodUid[]): void;
  views(): readonly PodView[];
  view(uid: PodUid): PodView | undefined;
  /** The name is for the log. An exception of one listener reaches no one else. Returns the function that ends the subscription. */
  subscribe(name: string, listener: (update: PodUpdate) => void): () => void;
  /** Devices have come or gone: pods that wait for them are assigned again. */
  assignableChanged(): void;
  /** Why pods are not managed as they should be; undefined when there is no problem. */
  problem(): string | undefined;
}

export type Admission =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'rejected';
      readonly reason: string;
      readonly message: string;
      /** The node is being shut down or drained. */
      readonly whileClosed?: boolean;
    }
  /** These pods must end first. */
  | { readonly kind: 'preempt'; readonly victims: readonly { readonly uid: PodUid; readonly message: string }[] };

export interface PodsDeps
  extends Omit<
      WorkerDeps,
      'publish' | 'explain' | 'takeTurn' | 'removals' | 'nextTicket' | 'endings' | 'resizes' | 'inForce'
    >,
    Pick<ResizesDeps, 'infeasible' | 'resizeMeter'> {
  /** Every pod of which something is on the node: in the runtime, or on disk. */
  readonly listNode: (signal: AbortSignal) => Promise<readonly FoundPod[]>;
  /** May this pod run beside those that are admitted? */
  readonly admit: (pod: Pod, admitted: readonly Pod[]) => Admission;
  /** Whether the node is being shut down or drained; by default it never is. */
  readonly isClosed?: () => boolean;
  /** A pod that no source has, restored from what is left of it on the node. */
  readonly restorePod: (found: FoundPod, signal: AbortSignal) => Promise<Pod>;
  /** Assigns devices and CPUs to the pods that are admitted; without it there is nothing to assign. */
  readonly assigning?: AssignPort;
  /**
   * The static pod under the UID that it has here, given what is on the node under its name; undefined while that can't be decided.
   * Without this function every pod keeps its own UID.
   */
  readonly identify?: (pod: Pod, namesakes: readonly FoundPod[]) => Pod | undefined;
}

export interface PodsConfig {
  /** How many sandboxes or containers are started at once. */
  readonly startsAtOnce: number;
  /** The directory with the records of how pods ended. */
  readonly endingsDirectory: string;
  /** The gate PodLevelResources. */
  readonly podLevel: boolean;
  /** `syncFrequency`; ms. */
  readonly resyncMs: number;
}

/** How many sandboxes or containers are started at once on a machine with so many processors: see docs/starts.md. */
export function startsAtOnce(cpus: number): number {
  return Math.max(4, 2 * cpus);
}

const LIST_RETRY_MS = 500;
/** When most pods have been in one pass for so long, the node does not manage its pods. */
const STUCK_MS = 180_000;

/** Loads the allocations when it starts; others may use them from then on. */
export function createPods(deps: PodsDeps, allocations: Allocations, config: PodsConfig): Pods {
  const { clock, log, supervisor } = deps;
  const bit = createWakeBit();
  const endings = createEndingStore(config.endingsDirectory, log);
  const { take: takeTurn } = createTurns(config.startsAtOnce);
  const removals = createRemovals(clock, config.startsAtOnce);
  const { podLevel } = config;
  const set = createPodSet(deps, { endings, allocations, podLevel, takeTurn, removals, requestReconcile: bit.wake });
  let desired: Desired | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let listed = false;

  const listNode = async (signal: AbortSignal): Promise<void> => {
    while (!listed) {
      try {
        set.found(await deps.listNode(signal));
        listed = true;
      } catch (error) {
        if (signal.aborted) throw error;
        log.v(2)?.info('Waiting for the container runtime', { err: error });
        await clock.sleep(LIST_RETRY_MS, signal);
      }
    }
  };

  const reconcile = async (signal: AbortSignal): Promise<void> => {
    await listNode(signal);
    if (desired !== undefined) await set.reconcile(desired, signal);
  };

  return {
    name: 'pods',
    start: async (signal) => {
      await endings.load();
      await allocations.load();
      const loop = supervisor.run({ name: 'pod reconcile', pass: reconcile, rest: bit.wait }, signal);
      const { workers } = set;
      running = Promise.all([loop, runResync({ clock, supervisor, workers }, config.resyncMs, signal)]);
    },
    stop: async () => {
      await running;
      await set.stopped();
    },
    setDesired: (pods, everySourceHeard, heard = new Set()) => {
      desired = { pods, everySourceHeard, heard };
      bit.wake();
    },
    desired: () => desired,
    end: set.end,
    wake: (uid, reason) => set.worker(uid)?.wake(reason),
    volumesProgressed: (uid) => set.worker(uid)?.volumesProgressed(),
    objectChanged: (object) => {
      for (const uid of waitingForObjects(set.views(), object)) set.worker(uid)?.wake('object-changed');
    },
    reopen: set.reopen,
    reconsider: () => {
      if (desired !== undefined) bit.wake();
    },
    found: (pods) => {
      if (!listed) return;
      set.found(pods);
      if (pods.some(({ uid }) => set.worker(uid) === undefined)) bit.wake();
    },
    foundOnDisk: (uids) => {
      if (!listed) return;
      set.foundOnDisk(uids);
      bit.wake();
    },
    views: set.views,
    view: set.view,
    subscribe: set.subscribe,
    assignableChanged: set.assignableChanged,
    problem: () => {
      if (!listed) return 'the container runtime has not been listed yet';
      return stuckReason(set.busy());
    },
  };
}

/** UIDs of all pods that sources have or that are managed; undefined before every source was heard. */
export function knownUids(pods: Pick<Pods, 'desired' | 'views'>): ReadonlySet<string> | undefined {
  const desired = pods.desired();
  if (desired?.everySourceHeard !== true) return undefined;
  return new Set([...desired.pods.map(({ metadata }) => metadata.uid), ...pods.views().map(({ uid }) => String(uid))]);
}

/** One pod whose pass hangs is that pod's problem; most of them are the node's. */
function stuckReason(busy: readonly number[]): string | undefined {
  const stuck = busy.filter((ms) => ms > STUCK_MS).length;
  if (stuck < 2 || stuck * 2 <= busy.length) return undefined;
  return `${stuck} of ${busy.length} pods have been in one pass for more than ${STUCK_MS / 1000} s`;
}
