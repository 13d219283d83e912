/** Directories that exist as long as the pod: on disk, in memory, in huge pages. */
import { chmod, chown, stat } from 'node:fs/promises';
import { modeForGroup } from '../../api/fs-group.ts';
import type { Pod } from '../../api/pod.ts';
import type { Directories } from '../directories.ts';
import { invalid, ready, type VolumeKind } from '../kind.ts';
import { type EmptyDirNode, emptyDirPlace } from '../rules/empty-dir.ts';
import { EMPTY_DIR_PLUGIN } from '../rules/places.ts';

export interface EmptyDirDeps {
  readonly directories: Directories;
  readonly node: (pod: Pod) => EmptyDirNode;
}

export function createEmptyDirKind({ directories, node }: EmptyDirDeps): VolumeKind {
  return {
    plugin: EMPTY_DIR_PLUGIN,
    handles: (volume) => volume.emptyDir !== undefined,
    setUp: async ({ pod, volume, directory, fsGroup, enter }, signal) => {
      const place = emptyDirPlace(pod, volume.emptyDir ?? {}, node(pod));
      if (!place.ok) return invalid(place.problem);
      const { kind: medium, ...size } = place.value;
      const finish = async () => {
        if (fsGroup === undefined) return;
        enter('permissions');
        await giveToGroup(directory, fsGroup);
      };
      await directories.ensure({ directory, medium, ...size, finish, enter }, signal);
      return ready({ path: directory, selinuxRelabel: true });
    },
    tearDown: ({ directory }, signal) => directories.remove(directory, signal),
  };
}

/** It is still empty: only the directory itself is changed. */
async function giveToGroup(directory: string, gid: number): Promise<void> {
  const { mode } = await stat(directory);
  await chown(directory, 0, gid);
  await chmod(directory, modeForGroup({ mode, isDirectory: true }, false));
}
