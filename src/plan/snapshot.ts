/** All that a decision about one pod may depend on. One readonly value, so that the decision is a function. */
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Observation } from './observation.ts';

export type ProbeVerdict = 'success' | 'failure' | 'unknown';

export interface ProbeResults {
  /** `unknown` until the first result; a container without that probe has no entry. */
  readonly startup: ReadonlyMap<ContainerId, ProbeVerdict>;
  readonly liveness: ReadonlyMap<ContainerId, ProbeVerdict>;
  readonly readiness: ReadonlyMap<ContainerId, ProbeVerdict>;
}

/** Why a container that should run does not: kept by the worker from its last outcome, shown as the waiting reason. */
export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

/** What the worker remembers of a container by name; nothing of it is needed to recover after a restart. */
export interface ContainerMemory {
  /** The last attempt to start it failed, or it must wait: ErrImagePull, CreateContainerConfigError, CrashLoopBackOff… */
  readonly waiting: WaitingReason | undefined;
  /** The container ids whose postStart hook failed: they are killed and count as failed. */
  readonly failedHooks: ReadonlySet<ContainerId>;
}

export interface BackOffSettings {
  readonly initialMs: number;
  readonly maxMs: number;
  /** A container that ran this long starts again with the initial wait. */
  readonly resetAfterMs: number;
}

export interface Snapshot {
  readonly pod: Pod;
  readonly observation: Observation;
  readonly probes: ProbeResults;
  readonly memory: ReadonlyMap<string, ContainerMemory>;
  /** Hash of each container's spec now, in the form of `ObservedContainer.hash`, by container name. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly backOff: BackOffSettings;
  /** Crash count behind the current back-off by container name, as the worker counted it (see plan/back-off.ts). */
  readonly crashes: ReadonlyMap<string, CrashRecord>;
  /** Wall clock, milliseconds. */
  readonly now: number;
  /** When the kubelet first had the pod (its `startTime`), wall clock: from here its deadline counts. */
  readonly startedAt?: number;
  /**
   * By container name, the least restart count of the next container: one more than the newest log file's number, for
   * where the runtime has forgotten the containers that wrote them.
   */
  readonly restartCounts?: ReadonlyMap<string, number>;
}

/** A crash that was answered with a start, and what the next one has to wait. See plan/back-off.ts. */
export interface CrashRecord {
  readonly waitMs: number;
  /** When the crashed container ended, wall clock. */
  readonly since: number;
}
