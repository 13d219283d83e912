/** What workers need of other parts. */
import type { Act, PodIdentity } from '../act/act.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Observation } from '../plan/observation.ts';
import type { Action } from '../plan/plan.ts';
import type { BackOffSettings, ProbeResults } from '../plan/snapshot.ts';
import type { PodEnding, PodView } from './view.ts';

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
  readonly record: (event: WorkerEvent) => void;
  readonly publish: (view: PodView) => void;
  /** A turn to start something, among all pods; see docs/starts.md. */
  readonly takeTurn: (rank: readonly number[], signal: AbortSignal) => Promise<Disposable>;
  /** Numbers in the order in which pods begin to start. */
  readonly nextTicket: () => number;
  /** Told of each pass when it is over: for metrics. */
  readonly onPass?: ((pass: PassReport) => void) | undefined;
  readonly supervisor: Supervisor;
}

export interface PassReport {
  readonly kind: 'create' | 'update' | 'sync' | 'kill' | 'terminated';
  readonly ms: number;
  /** From when the worker was made, with its first pass. */
  readonly waitedMs: number | undefined;
}

/** What a decision depends on besides the pod and its observation. */
export interface DecisionInputs {
  readonly backOff: BackOffSettings;
  probes(): ProbeResults;
  /** Hash of each container of the pod, by name. */
  hashes(pod: Pod): ReadonlyMap<string, string>;
  /** Least restart counts that follow from the log files of containers which the runtime has forgotten. */
  restartCounts(pod: Pod): Promise<ReadonlyMap<string, number>>;
  /** Dead containers and sandboxes of a living pod that nobody needs any more, and when to look again. */
  garbage(
    observation: Observation,
    now: number,
  ): { readonly actions: readonly Action[]; readonly retryAt: number | undefined };
}

/** How pods ended that can't be observed again: kept on disk. */
export interface Endings {
  /** Resolves when it is safely on disk. */
  write(pod: PodIdentity, end: PodEnding | undefined): Promise<void>;
  remove(uid: PodUid): Promise<void>;
}

export interface WorkerEvent {
  readonly pod: { readonly uid: string; readonly name: string; readonly namespace: string };
  readonly container?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
