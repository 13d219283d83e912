/**
 * What is to be done about the cgroups above pods, one step at a time:
 *
 *   driver unknown ──► ask the runtime ──► create each parent ──► update those whose limits have changed
 *
 * Everything is written again from time to time, in case another program has changed it.
 */
import type { CgroupLimits } from './cgroup-limits.ts';
import type { CgroupDriver } from './cgroup-name.ts';
import { QOS_PARENTS, type QosParent, type QosParentLimits } from './qos-parents.ts';

export interface NodeCgroupState {
  readonly driver: CgroupDriver | undefined;
  /** What each parent was last given; absent before it was created. */
  readonly written: ReadonlyMap<QosParent, CgroupLimits>;
  /** Parents that must be written even where nothing has changed. */
  readonly stale: ReadonlySet<QosParent>;
}

export type NodeCgroupFact =
  | { readonly kind: 'driver'; readonly driver: CgroupDriver }
  | { readonly kind: 'written'; readonly parent: QosParent; readonly limits: CgroupLimits }
  | { readonly kind: 'stale' };

export type NodeCgroupStep =
  | { readonly kind: 'ask driver' }
  | { readonly kind: 'create' | 'update'; readonly parent: QosParent; readonly limits: CgroupLimits };

export const NO_CGROUPS: NodeCgroupState = { driver: undefined, written: new Map(), stale: new Set() };

export function reduceNodeCgroups(state: NodeCgroupState, fact: NodeCgroupFact): NodeCgroupState {
  switch (fact.kind) {
    case 'driver':
      return { ...state, driver: fact.driver };
    case 'written':
      return {
        ...state,
        written: new Map([...state.written, [fact.parent, fact.limits]]),
        stale: new Set([...state.stale].filter((parent) => parent !== fact.parent)),
      };
    case 'stale':
      return { ...state, stale: new Set(state.written.keys()) };
  }
}

/** Undefined: everything is as it should be. */
export function nextNodeCgroupStep(state: NodeCgroupState, desired: QosParentLimits): NodeCgroupStep | undefined {
  if (state.driver === undefined) return { kind: 'ask driver' };
  for (const parent of QOS_PARENTS) {
    const limits = desired[parent];
    const written = state.written.get(parent);
    if (written === undefined) return { kind: 'create', parent, limits };
    if (state.stale.has(parent) || !sameLimits(written, limits)) return { kind: 'update', parent, limits };
  }
  return undefined;
}

/** Pods can be put below them. */
export function isStanding({ driver, written }: NodeCgroupState): boolean {
  return driver !== undefined && QOS_PARENTS.every((parent) => written.has(parent));
}

function sameLimits(a: CgroupLimits, b: CgroupLimits): boolean {
  const keys = ['cpuShares', 'memory', 'memoryMin', 'memoryLow', 'hugePages'] as const;
  return keys.every((key) => a[key] === b[key]);
}
