/** Folders that live and die with the pod: on disk, in memory, in huge pages. */
import { chmod, chown, stat } from 'node:fs/promises';
import { modeForGroup } from '../../api/fs-group.ts';
import type { Pod } from '../../api/pod.ts';
import { CodedError } from '../../base/errors.ts';
import type { Folders } from '../folders.ts';
import type { VolumeKind } from '../kind.ts';
import { type EmptyDirNode, emptyDirPlace } from '../rules/empty-dir.ts';
import { EMPTY_DIR_PLUGIN } from '../rules/places.ts';

export interface EmptyDirDeps {
  readonly folders: Folders;
  readonly node: (pod: Pod) => EmptyDirNode;
}

export function createEmptyDirKind({ folders, node }: EmptyDirDeps): VolumeKind {
  return {
    plugin: EMPTY_DIR_PLUGIN,
    handles: (volume) => volume.emptyDir !== undefined,
    setUp: async ({ pod, volume, directory, fsGroup }, signal) => {
      const place = emptyDirPlace(pod, volume.emptyDir ?? {}, node(pod));
      if (!place.ok) throw new CodedError('invalid', place.problem);
      const { kind: medium, ...size } = place.value;
      const finish = () => giveToGroup(directory, fsGroup);
      await folders.ensure({ directory, medium, ...size, finish }, signal);
      return { path: directory, selinuxRelabel: true };
    },
    tearDown: ({ directory }, signal) => folders.remove(directory, signal),
  };
}

/** It is empty still: the folder itself is all that there is to give. */
async function giveToGroup(directory: string, gid: number | undefined): Promise<void> {
  if (gid === undefined) return;
  const { mode } = await stat(directory);
  await chown(directory, 0, gid);
  await chmod(directory, modeForGroup({ mode, isDirectory: true }, false));
}
