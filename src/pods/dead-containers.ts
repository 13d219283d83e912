/**
 * Removes what dead containers keep on the disk, on a node that is short of it: all of pods that have ended, and of others all but the last
 * one of each name, since the pod is judged by it.
 */
import type { Clock } from '../base/clock.ts';
import { linkSignal } from '../base/signal.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Pods } from './pods.ts';

export interface DeadContainers {
  /** While it is true, no more than one dead container of a name is kept, however young it is. */
  isRemoving(): boolean;
  /** Resolves when the workers have removed them, or after a while. */
  remove(signal: AbortSignal): Promise<void>;
}

const WITHIN_MS = 10_000;

export function createDeadContainers(
  clock: Clock,
  pods: () => Pick<Pods, 'views' | 'view' | 'wake' | 'subscribe'>,
): DeadContainers {
  let isRemoving = false;
  return {
    isRemoving: () => isRemoving,
    remove: async (signal) => {
      const left = new Set(
        pods()
          .views()
          .filter(hasSurplus)
          .map(({ uid }) => uid),
      );
      if (left.size === 0) return;
      isRemoving = true;
      using waiting = linkSignal(signal);
      const unsubscribe = pods().subscribe('dead containers', () => {
        for (const uid of left) if (!hasSurplus(pods().view(uid))) left.delete(uid);
        if (left.size === 0) waiting.abort(REMOVED);
      });
      try {
        for (const uid of left) pods().wake(uid, 'timer');
        await clock.sleep(WITHIN_MS, waiting.signal);
      } catch (error) {
        if (error !== REMOVED) throw error;
      } finally {
        unsubscribe();
        isRemoving = false;
      }
    },
  };
}

const REMOVED = 'removed';

/** More than one dead container of a name, or any of a pod that has ended; none of a pod that is gone. */
function hasSurplus(view: Pick<PodView, 'step' | 'observation'> | undefined): boolean {
  const ended = (view?.observation.containers ?? []).filter(({ state }) => state === 'exited');
  if (view?.step === 'terminated') return ended.length > 0;
  return new Set(ended.map(({ name }) => name)).size < ended.length;
}
