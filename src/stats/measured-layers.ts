/** Sizes of writable layers as they are now, for who is about to evict a pod because of them. */
import type { Clock } from '../base/clock.ts';
import { linkSignal } from '../base/signal.ts';
import type { StatsPod } from './rules/targets.ts';
import type { DirectoryUse, StoragePorts } from './storage.ts';

/** For all of them together: those that are not measured by then keep the numbers of the runtime. */
const WITHIN_MS = 3000;

export async function measureLayers(
  { clock, ports }: { readonly clock: Clock; readonly ports: Pick<StoragePorts, 'measureLayer' | 'complain'> },
  pods: readonly StatsPod[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DirectoryUse>> {
  const found = new Map<string, DirectoryUse>();
  using within = linkSignal(signal);
  const measureAll = async (): Promise<void> => {
    for (const { id } of pods.flatMap(({ containers }) => containers)) {
      if (within.signal.aborted) return;
      try {
        const use = await ports.measureLayer(id, within.signal);
        if (use !== undefined) found.set(id, use);
      } catch (error) {
        if (!within.signal.aborted) ports.complain(`writable layer of ${id}`, error);
      }
    }
  };
  const late = clock.sleep(WITHIN_MS, within.signal).catch(() => undefined); // all were measured before
  await Promise.race([measureAll(), late]);
  within.abort('the measures are done, or take too long');
  signal.throwIfAborted();
  return new Map(found);
}
