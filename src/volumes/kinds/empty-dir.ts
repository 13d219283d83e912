/** Directories that live and die with the pod: on disk, in memory, in huge pages. */
import { chmod, chown, stat } from 'node:fs/promises';
import { modeForGroup } from '../../api/fs-group.ts';
import type { Pod } from '../../api/pod.ts';
import { CodedError } from '../../base/errors.ts';
import type { Directories } from '../directories.ts';
import type { VolumeKind } from '../kind.ts';
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
    setUp: async ({ pod, volume, directory, fsGroup }, signal) => {
      const place = emptyDirPlace(pod, volume.emptyDir ?? {}, node(pod));
      if (!place.ok) throw new CodedError('invalid', place.problem);
      const { kind: medium, ...size } = place.value;
      const finish = () => giveToGroup(directory, fsGroup);
      await directories.ensure({ directory, medium, ...size, finish }, signal);
      return { path: directory, selinuxRelabel: true };
    },
    tearDown: ({ directory }, signal) => directories.remove(directory, signal),
  };
}

/** It is empty still: the directory itself is all that there is to give. */
async function giveToGroup(directory: string, gid: number | undefined): Promise<void> {
  if (gid === undefined) return;
  const { mode } = await stat(directory);
  await chown(directory, 0, gid);
  await chmod(directory, modeForGroup({ mode, isDirectory: true }, false));
}
