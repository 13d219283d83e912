/** Lists made from the volumes of the node: for the runtime and for metrics. */
import type { MountedVolume } from '../../model/mounted-volume.ts';
import type { VolumeReady } from '../kind.ts';

/** By name; volumes that the runtime mounts itself are left out. */
export function mountsOf(volumes: ReadonlyMap<string, VolumeReady>): ReadonlyMap<string, MountedVolume> {
  const mounts = new Map<string, MountedVolume>();
  for (const [name, { path, readOnly, selinuxRelabel }] of volumes) {
    if (path === undefined) continue;
    mounts.set(name, {
      hostPath: path,
      ...(readOnly === undefined ? {} : { readOnly }),
      ...(selinuxRelabel === undefined ? {} : { selinuxRelabel }),
    });
  }
  return mounts;
}

export interface VolumeCount {
  readonly plugin: string;
  readonly state: 'desired' | 'actual';
  readonly count: number;
}

/** Volumes that are not resolved have no plugin yet and are not counted. */
export function countVolumes(
  volumes: readonly { readonly plugin: string | undefined; readonly ready: boolean }[],
): readonly VolumeCount[] {
  const plugins = [...new Set(volumes.map(({ plugin }) => plugin))].filter((plugin) => plugin !== undefined);
  return plugins.sort().flatMap((plugin): readonly VolumeCount[] => {
    const own = volumes.filter((volume) => volume.plugin === plugin);
    return [
      { plugin, state: 'desired', count: own.length },
      { plugin, state: 'actual', count: own.filter(({ ready }) => ready).length },
    ];
  });
}
