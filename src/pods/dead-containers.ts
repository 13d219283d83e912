/** Removes what dead containers of pods keep on the disk, on a node that is short of it. The last one of each name stays: its pod is judged by it. */
import type { Clock } from '../base/clock.ts';
import type { Observation } from '../model/observation.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Pods } from './pods.ts';

export interface DeadContainers {
  /** While it is true, no more than one dead container of a name is kept, however young it is. */
  isRemoving(): boolean;
  /** Resolves when the workers have removed them, or after a while. */
  remove(signal: AbortSignal): Promise<void>;
}

const WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 100;

export function createDeadContainers(clock: Clock, pods: () => Pick<Pods, 'views' | 'wake'>): DeadContainers {
  let isRemoving = false;
  const withSurplus = (): readonly PodView[] =>
    pods()
      .views()
      .filter(({ observation }) => hasSurplus(observation));
  return {
    isRemoving: () => isRemoving,
    remove: async (signal) => {
      isRemoving = true;
      try {
        for (const { uid } of withSurplus()) pods().wake(uid, 'timer');
        const until = clock.mono() + WITHIN_MS;
        while (withSurplus().length > 0 && clock.mono() < until) await clock.sleep(LOOK_EVERY_MS, signal);
      } finally {
        isRemoving = false;
      }
    },
  };
}

function hasSurplus({ containers }: Observation): boolean {
  const dead = containers.filter(({ state }) => state === 'exited').map(({ name }) => name);
  return new Set(dead).size < dead.length;
}
