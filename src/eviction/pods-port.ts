/** The pods as eviction sees them. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { linkSignal } from '../base/signal.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import type { EvictablePods, EvictionRequest } from './ports.ts';

export interface PodsOfNode {
  views(): readonly PodView[];
  view(uid: PodUid): PodView | undefined;
  end(uid: PodUid, request: EvictionRequest): void;
  subscribe(name: string, listener: (update: PodUpdate) => void): () => void;
}

export function evictablePods(
  pods: PodsOfNode,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): EvictablePods {
  const hasEnded = (uid: PodUid) => (pods.view(uid)?.step ?? 'terminated') === 'terminated';
  return {
    active: (): readonly Pod[] =>
      pods
        .views()
        .filter(({ step, ended }) => step === 'syncing' && ended === undefined)
        .map(({ pod }) => pod),
    end: pods.end,
    untilEnded: async (uid, withinMs, signal) => {
      const ended = Promise.withResolvers<void>();
      const stop = pods.subscribe('eviction', () => {
        if (hasEnded(uid)) ended.resolve();
      });
      if (hasEnded(uid)) ended.resolve();
      using wait = linkSignal(signal);
      const slept = sleep(withinMs, wait.signal).catch(() => undefined); // the pod has ended, or the kubelet stops
      await Promise.race([ended.promise, slept]);
      stop();
      wait.abort('the wait is over');
      signal.throwIfAborted();
    },
  };
}
