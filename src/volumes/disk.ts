/** What is on disk of a pod's volumes: all that there is to know of them after a restart. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import { errnoName } from '../host/file-calls.ts';
import type { VolumeLeft } from './kind.ts';
import { pluginOfFolder } from './rules/places.ts';

export interface FoundVolume extends VolumeLeft {
  readonly plugin: string;
}

export async function findVolumes(uid: PodUid, podDirectory: string): Promise<readonly FoundVolume[]> {
  const volumes = join(podDirectory, 'volumes');
  const found: FoundVolume[] = [];
  for (const folder of await list(volumes)) {
    for (const name of await list(join(volumes, folder))) {
      found.push({ uid, name, directory: join(volumes, folder, name), plugin: pluginOfFolder(folder) });
    }
  }
  return found;
}

async function list(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoName(error) === 'ENOENT' || errnoName(error) === 'ENOTDIR') return [];
    throw error;
  }
}
