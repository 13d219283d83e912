/** The volumes of a pod that are on disk: all that is known about them after a restart. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import { ifPathMissing } from '../base/errno.ts';
import type { VolumeLeft } from './kind.ts';
import { pluginOfDirectory } from './rules/places.ts';

export interface FoundVolume extends VolumeLeft {
  readonly plugin: string;
}

export async function findVolumes(uid: PodUid, podDirectory: string): Promise<readonly FoundVolume[]> {
  const volumes = join(podDirectory, 'volumes');
  const found: FoundVolume[] = [];
  for (const dir of await list(volumes)) {
    for (const name of await list(join(volumes, dir))) {
      found.push({ uid, name, directory: join(volumes, dir, name), plugin: pluginOfDirectory(dir) });
    }
  }
  return found;
}

function list(dir: string): Promise<readonly string[]> {
  return readdir(dir).catch(ifPathMissing([]));
}
