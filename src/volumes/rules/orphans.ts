/**
 * Which directories of pods belong to no pod. A directory is an orphan once two sweeps have found it without a pod: in between a pod may just
 * have ended or begun.
 */
import { isPodUid, type PodUid } from '../../api/ids.ts';

export interface SweepInput {
  /** The names below `pods/`. */
  readonly directories: readonly string[];
  /** UIDs of the pods that sources have or that are managed. */
  readonly known: ReadonlySet<string>;
}

export interface SweepState {
  /** Without a pod at the last sweep. */
  readonly suspects: ReadonlySet<PodUid>;
  /** Reported as orphans, and still on disk at the last sweep. */
  readonly reported: ReadonlySet<PodUid>;
}

export const FIRST_SWEEP: SweepState = { suspects: new Set(), reported: new Set() };

export interface Sweep {
  readonly state: SweepState;
  /** To be ended now. */
  readonly orphans: readonly PodUid[];
  /** Were reported by an earlier sweep, and could not be removed since. */
  readonly left: readonly PodUid[];
}

export function sweepDirectories(before: SweepState, { directories, known }: SweepInput): Sweep {
  const present = directories.filter(isPodUid);
  const suspects = present.filter((uid) => !known.has(uid));
  const orphans = suspects.filter((uid) => before.suspects.has(uid));
  const left = present.filter((uid) => before.reported.has(uid));
  return { state: { suspects: new Set(suspects), reported: new Set([...left, ...orphans]) }, orphans, left };
}

/** The numbers of the last sweep, for metrics. */
export interface SweepCounts {
  readonly orphans: number;
  readonly failed: number;
}

export function countSweep({ state, left }: Sweep): SweepCounts {
  return { orphans: state.reported.size, failed: left.length };
}

/** A suspect is looked at again soon; otherwise a sweep is a slow safety net. */
export function nextSweep(
  { state }: Sweep,
  { confirmMs, slowMs }: { readonly confirmMs: number; readonly slowMs: number },
): number {
  return [...state.suspects].some((uid) => !state.reported.has(uid)) ? confirmMs : slowMs;
}
