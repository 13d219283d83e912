/**
 * Sizes of writable layers. The runtime measures them every ten seconds and takes its time to list them: an answer of the last seconds
 * is used again where it has every container, and is renewed meanwhile.
 */
import type { RuntimeUse } from './storage.ts';

export type Layers = ReadonlyMap<string, RuntimeUse>;

export interface RecentLayersPorts {
  readonly now: () => number;
  readonly ask: (signal: AbortSignal) => Promise<Layers>;
  readonly onFailure: (error: unknown) => void;
}

/** Younger than this, it is not renewed. */
const FRESH_MS = 5000;
const USABLE_MS = 15_000;

export function createRecentLayers({ now, ask, onFailure }: RecentLayersPorts) {
  const stopping = new AbortController();
  let last: { readonly layers: Layers; readonly at: number } | undefined;
  let isRenewing = false;

  const renew = async (signal: AbortSignal): Promise<Layers> => {
    const at = now();
    const layers = await ask(signal);
    last = { layers, at };
    return layers;
  };

  const renewLater = async (): Promise<void> => {
    if (isRenewing || stopping.signal.aborted) return;
    isRenewing = true;
    try {
      await renew(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) onFailure(error);
    } finally {
      isRenewing = false;
    }
  };

  return {
    of: (ids: readonly string[], signal: AbortSignal): Promise<Layers> => {
      const known = last;
      const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.at;
      if (known === undefined || age > USABLE_MS || !ids.every((id) => known.layers.has(id))) return renew(signal);
      if (age > FRESH_MS) void renewLater();
      return Promise.resolve(known.layers);
    },
    stop: (): void => stopping.abort('statistics are stopping'),
  };
}
