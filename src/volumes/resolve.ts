/**
 * What a volume of a pod stands for. Most kinds are named in the pod itself; a claim has to be read first, and its volume decides
 * which kind makes it. Until then the volume is at the stage `resolve`, which is waited for and retried like every other one.
 */
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import { invalid, type NotReady, type VolumeKind } from './kind.ts';
import { volumeKind } from './rules/volume-kind.ts';

export type Resolution =
  | {
      readonly kind: 'resolved';
      /** Makes it: a kind that pods name, or one for the volume behind this claim. */
      readonly by: VolumeKind;
      /** The last part of its directory's path: the volume's name in the pod, or the name of the persistent volume. */
      readonly directoryName: string;
      readonly uniqueName: string | undefined;
    }
  | NotReady;

export interface VolumeResolver {
  handles(volume: Volume): boolean;
  /** Idempotent: called again after each answer that is not `resolved`, and after each failure. */
  resolve(pod: Pod, volume: Volume, signal: AbortSignal): Promise<Resolution>;
  /** Begins to fetch what is needed later. A failure is found again and reported when the volume is made. */
  prefetch?(pod: Pod, volume: Volume, signal: AbortSignal): void;
}

export type Resolve = VolumeResolver['resolve'];

export function createResolvers(
  kinds: readonly VolumeKind[],
  resolvers: readonly VolumeResolver[],
): Required<Pick<VolumeResolver, 'resolve' | 'prefetch'>> {
  const all = [...resolvers, ...kinds.map(directly)];
  const find = (volume: Volume) => all.find((one) => one.handles(volume));
  return {
    resolve: (pod, volume, signal) =>
      find(volume)?.resolve(pod, volume, signal) ?? Promise.resolve(unknownKind(volume)),
    prefetch: (pod, volume, signal) => find(volume)?.prefetch?.(pod, volume, signal),
  };
}

/** A kind that the pod names. */
function directly(kind: VolumeKind): VolumeResolver {
  return {
    handles: (volume) => kind.handles(volume),
    resolve: async (pod, volume, signal) => {
      const uniqueName = await kind.attachment?.uniqueName({ pod, volume }, signal);
      return { kind: 'resolved', by: kind, directoryName: volume.name, uniqueName };
    },
    prefetch: (pod, volume, signal) => kind.prefetch?.(pod, volume, signal),
  };
}

const unknownKind = (volume: Volume): NotReady =>
  invalid(`volumes of kind ${volumeKind(volume)} are not supported yet`);
