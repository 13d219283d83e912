/** Which images are in use: by containers, running or not, and by pods that mount one as a volume. */
import type { Pod } from '../api/pod.ts';
import type { ImageRuntime } from './ports.ts';

export interface InUseDeps {
  readonly runtime: Pick<ImageRuntime, 'status'>;
  readonly listContainers: (
    signal: AbortSignal,
  ) => Promise<readonly { readonly imageId: string; readonly imageRef: string }[]>;
  /** The pods of this node. */
  readonly pods: () => readonly Pod[];
}

/** Ids or other names of the images. */
export async function imagesInUse(
  { runtime, listContainers, pods }: InUseDeps,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const containers = await listContainers(signal);
  const used = new Set(containers.flatMap(({ imageId, imageRef }) => [imageId, imageRef]));
  const mounted = pods().flatMap(({ spec }) => (spec.volumes ?? []).map(({ image }) => image?.reference ?? ''));
  for (const image of new Set(mounted.filter((reference) => reference !== ''))) {
    used.add((await runtime.status({ image }, {}, signal)).image?.id ?? '');
  }
  used.delete('');
  return used;
}
