/** All that a decision about one pod depends on, as one readonly value: the decision is a pure function of it. */
import type { Pod } from '../api/pod.ts';
import type { Observation } from '../model/observation.ts';
import type { CrashRecord } from '../model/plan.ts';
import type { ContainerMemory } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import type { ResizeInput } from './resize.ts';

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
   * By container name, the least restart count of the next container: one more than the newest log file's number, where
   * the runtime does not have the containers any more that wrote them.
   */
  readonly restartCounts?: ReadonlyMap<string, number>;
  /** Without it no pod is resized. */
  readonly resize?: ResizeInput | undefined;
}
