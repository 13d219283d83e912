/**
 * Which pod cgroups belong to no pod any more. Those that were there when the kubelet started are pods of an earlier one: whether they
 * are still desired is decided with all the rest of such pods, once every source has been heard. All others must be known here.
 */
export interface SweepState {
  /** Undefined before the first look. */
  readonly atStart: ReadonlySet<string> | undefined;
  /** Belonged to no pod at the last look, too. A pod that is being created just now is no orphan. */
  readonly suspects: ReadonlySet<string>;
}

export const NO_SWEEP: SweepState = { atStart: undefined, suspects: new Set() };

export interface SweepFacts {
  /** UIDs of the pods that have a cgroup now. */
  readonly listed: readonly string[];
  isKnown(uid: string): boolean;
  /** This kubelet created or removed it. */
  wasKnown(uid: string): boolean;
}

export function planSweep(
  state: SweepState,
  { listed, isKnown, wasKnown }: SweepFacts,
): { readonly state: SweepState; readonly orphans: readonly string[] } {
  if (state.atStart === undefined) return { state: { atStart: new Set(listed), suspects: new Set() }, orphans: [] };
  const { atStart, suspects } = state;
  const unknown = listed.filter((uid) => !isKnown(uid) && (!atStart.has(uid) || wasKnown(uid)));
  return { state: { atStart, suspects: new Set(unknown) }, orphans: unknown.filter((uid) => suspects.has(uid)) };
}
