/** What workers need from other parts. */

import type { Act } from '../act/act.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Allocation } from '../model/allocation.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { PodExplanation } from '../model/explanation.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import type { PodEnding, PodView } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import type { BackOffSettings } from '../plan/snapshot.ts';
import type { Removals } from './removals.ts';
import type { PassKind } from './rules/pass-state.ts';

export interface WorkerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly act: Act;
  readonly observe: {
    read(pod: PodIdentity, signal: AbortSignal): Promise<Observation>;
    forget(uid: PodUid): void;
  };
  readonly decisions: DecisionInputs;
  readonly endings: Endings;
  readonly record: RecordPodEvent;
  readonly publish: (view: PodView) => void;
  /** How far the steps of a pod are: replaces the explanation in its view; no one is notified. */
  readonly explain: (uid: PodUid, explanation: PodExplanation) => void;
  /** How far the volumes of this pod are: for explanations. */
  readonly volumeProgress?: ((uid: PodUid) => readonly VolumeProgress[]) | undefined;
  /** A turn to start something, among all pods; see docs/starts.md. */
  readonly takeTurn: (rank: readonly number[], signal: AbortSignal) => Promise<Disposable>;
  /** When what the runtime has of removed pods is removed. */
  readonly removals: Removals;
  /** Numbers in the order in which pods begin to start. */
  readonly nextTicket: () => number;
  /** Called when a pod that is being deleted has ended, its last status is published, and its volumes and cgroup are gone. */
  readonly onReleased?: ((uid: PodUid) => void) | undefined;
  /** Called when nothing of a pod runs any more, and its volumes are unmounted. */
  readonly onUnmounted?: ((uid: PodUid) => void) | undefined;
  /** Called with each pass when it is over: for metrics. */
  readonly onPass?: ((pass: PassReport) => void) | undefined;
  readonly supervisor: Supervisor;
  /** How far the resize of a pod is: workers report it. */
  readonly resizes: {
    observed(pod: Pod, resizing: boolean): void;
    failed(pod: Pod, message: string): void;
  };
  /** The resources that are in force for a pod. */
  readonly inForce: (uid: PodUid) => Allocation | undefined;
}

export interface PassReport {
  readonly kind: PassKind;
  readonly ms: number;
  /** From the creation of the worker to the first pass of a new pod. */
  readonly waitedMs: number | undefined;
}

/** What a decision depends on besides the pod and its observation. */
export interface DecisionInputs {
  readonly backOff: BackOffSettings;
  /** Which containers can be resized; undefined: none. */
  readonly resize?: { readonly podLevel: boolean; readonly initContainers: boolean } | undefined;
  probes(): ProbeResults;
  /** Hash of each container of the pod, by name. */
  hashes(pod: Pod): ReadonlyMap<string, string>;
  /** The smallest restart counts that the log files of containers allow which the runtime has removed. */
  restartCounts(pod: Pod): Promise<ReadonlyMap<string, number>>;
  /** Dead containers and sandboxes that can be removed while the pod lives, and when the next ones can. */
  garbage(
    observation: Observation,
    now: number,
  ): { readonly actions: readonly Action[]; readonly retryAt: number | undefined };
  /** The node is short of disk: nothing is kept of pods that have ended. */
  isShortOfDisk(): boolean;
}

/** How pods ended that can't be observed again, on disk. */
export interface Endings {
  /** Resolves when it is synced to the disk. */
  write(pod: PodIdentity, end: PodEnding | undefined): Promise<void>;
  remove(uid: PodUid): Promise<void>;
}
