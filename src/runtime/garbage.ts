/** Which dead containers and sandboxes of a pod can go, given what the whole node keeps. */
import type { Observation } from '../model/observation.ts';
import { type DeadLimits, findGarbage, type GarbageVerdict, namesWithDead, shareOfDead } from './rules/garbage.ts';

export interface GarbageConfig extends DeadLimits {
  /** Dead containers stay at least this long, ms. */
  readonly minimumAge: number;
}

export function createGarbage(
  { minimumAge, perContainer, total }: GarbageConfig,
  observations: () => readonly Observation[],
  /** The node is short of disk: no more than one of a name is kept, however young it is. */
  isShort: () => boolean = () => false,
): (observation: Observation, now: number) => GarbageVerdict {
  return (observation, now) => {
    if (isShort())
      return findGarbage(
        observation,
        { minimumAge: 0, perContainer: Math.min(1, perContainer < 0 ? 1 : perContainer) },
        now,
      );
    const names = total < 0 ? 0 : observations().reduce((sum, one) => sum + namesWithDead(one), 0);
    return findGarbage(observation, { minimumAge, perContainer: shareOfDead({ perContainer, total }, names) }, now);
  };
}
