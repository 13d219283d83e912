/** Which dead containers and sandboxes no one needs any more. */
import type { ContainerId, SandboxId } from '../../api/ids.ts';
import type { Observation, ObservedContainer } from '../../model/observation.ts';

export interface GarbageSettings {
  /** Dead containers stay at least this long, ms. */
  readonly minimumAge: number;
  /** Dead containers of one name in one pod that are kept; negative: all. */
  readonly perContainer: number;
}

export interface DeadLimits {
  /** Dead containers of one name in one pod that are kept; negative: all. */
  readonly perContainer: number;
  /** Dead containers of the whole node that are kept; negative: no limit. */
  readonly total: number;
}

/**
 * How many of one name may stay when this many names have dead containers: the limit of the node is shared evenly. One of each
 * stays even where that is more than the limit, because the pod is judged by it.
 */
export function shareOfDead({ perContainer, total }: DeadLimits, names: number): number {
  if (total < 0) return perContainer;
  const share = Math.max(1, Math.floor(total / Math.max(names, 1)));
  return perContainer < 0 ? share : Math.min(perContainer, share);
}

/** How many containers of the pod, by name, have dead ones. */
export function namesWithDead({ containers }: Pick<Observation, 'containers'>): number {
  return new Set(containers.filter(({ state }) => state === 'exited').map(({ name }) => name)).size;
}

export type Garbage =
  | { readonly kind: 'container-remove'; readonly id: ContainerId; readonly name: string; readonly reason: string }
  | { readonly kind: 'sandbox-remove'; readonly id: SandboxId; readonly reason: string };

export interface GarbageVerdict {
  readonly actions: readonly Garbage[];
  /** When something that is too young now will be old enough, wall clock, ms. */
  readonly retryAt: number | undefined;
}

/** Of a pod that lives. The newest dead container of a name is kept for its log and its exit code. */
export function findGarbage(
  { containers, sandboxes }: Observation,
  { minimumAge, perContainer }: GarbageSettings,
  now: number,
): GarbageVerdict {
  const surplus = perContainer < 0 ? [] : surplusOf(containers, perContainer);
  const old = surplus.filter(({ finishedAt }) => now - finishedAt >= minimumAge);
  const young = surplus.filter((container) => !old.includes(container));
  const kept = new Set(containers.filter((container) => !old.includes(container)).map(({ sandboxId }) => sandboxId));
  const empty = sandboxes.slice(1).filter(({ id, ready }) => !ready && !kept.has(id));
  return {
    actions: [
      ...old.map(({ id, name }): Garbage => ({ kind: 'container-remove', id, name, reason: 'a newer one has ended' })),
      ...empty.map(({ id }): Garbage => ({ kind: 'sandbox-remove', id, reason: 'a newer one took its place' })),
    ],
    retryAt: young.length === 0 ? undefined : Math.min(...young.map(({ finishedAt }) => finishedAt)) + minimumAge,
  };
}

function surplusOf(containers: readonly ObservedContainer[], perContainer: number): readonly ObservedContainer[] {
  const seen = new Map<string, number>();
  const surplus: ObservedContainer[] = [];
  for (const [index, container] of containers.entries()) {
    if (container.state !== 'exited') continue;
    const count = (seen.get(container.name) ?? 0) + 1;
    seen.set(container.name, count);
    // The newest of its name is what the pod is judged by, so it stays whatever the limit says.
    const isNewest = containers.findIndex(({ name }) => name === container.name) === index;
    if (isNewest) continue;
    if (count > perContainer) surplus.push(container);
  }
  return surplus;
}
