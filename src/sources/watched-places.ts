/** Where to look for changes of a path: its directory, and the directories of all links on the way to it. */

import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isPathMissing } from '../base/errno.ts';

export interface WatchedPlace {
  /** The names in the directory that matter. */
  readonly names: Set<string>;
  /** Everything in it that could be a manifest matters too. */
  readonly manifests: boolean;
}

/** By directory. */
export type WatchedPlaces = Map<string, WatchedPlace>;

/** As many as the kernel follows. */
const MOST_LINKS = 40;

export function addName(places: WatchedPlaces, directory: string, name: string): void {
  const place = places.get(directory);
  if (place === undefined) places.set(directory, { names: new Set([name]), manifests: false });
  else place.names.add(name);
}

export function addManifests(places: WatchedPlaces, directory: string): void {
  places.set(directory, { names: places.get(directory)?.names ?? new Set(), manifests: true });
}

/**
 * Follows all links of an absolute path to the file or directory at its end. Notes where that end, each link on the way and what is
 * missing can change. Undefined: there is nothing.
 */
export async function followLinks(path: string, places: WatchedPlaces): Promise<string | undefined> {
  let at = '/';
  let rest = namesOf(path);
  for (let links = 0; links <= MOST_LINKS; ) {
    const name = rest.shift();
    if (name === undefined) return at;
    const next = join(at, name);
    const kind = name === '..' ? 'other' : await kindOf(next);
    if (kind !== 'other' || rest.length === 0) addName(places, at, name);
    if (kind === 'missing') return undefined;
    if (kind === 'link') {
      const target = await readlink(next);
      links += 1;
      rest = [...namesOf(target), ...rest];
      if (target.startsWith('/')) at = '/';
    } else at = next;
  }
  return undefined;
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

async function kindOf(path: string): Promise<'missing' | 'link' | 'other'> {
  try {
    return (await lstat(path)).isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    if (isPathMissing(error)) return 'missing';
    throw error;
  }
}
