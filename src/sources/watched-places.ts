/** Where to look for changes of a path: its folder, and the folders of all links on the way to it. */
import { lstat, readlink } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';

export interface WatchedPlace {
  /** The names in the folder that matter. */
  readonly names: Set<string>;
  /** Everything in it that could be a manifest matters too. */
  readonly manifests: boolean;
}

/** By folder. */
export type WatchedPlaces = Map<string, WatchedPlace>;

/** As many as the kernel follows. */
const MOST_LINKS = 40;

export function addName(places: WatchedPlaces, folder: string, name: string): void {
  const place = places.get(folder);
  if (place === undefined) places.set(folder, { names: new Set([name]), manifests: false });
  else place.names.add(name);
}

export function addManifests(places: WatchedPlaces, folder: string): void {
  places.set(folder, { names: places.get(folder)?.names ?? new Set(), manifests: true });
}

/** Follows the links of `path` to the file or folder at their end, noting each folder on the way. Undefined: there is none. */
export async function followLinks(path: string, places: WatchedPlaces): Promise<string | undefined> {
  let at = path;
  for (let links = 0; links <= MOST_LINKS; links++) {
    addName(places, dirname(at), basename(at));
    const kind = await kindOf(at);
    if (kind === 'other') return at;
    if (kind === 'missing') {
      await addNearest(places, at);
      return undefined;
    }
    at = resolve(dirname(at), await readlink(at));
  }
  return undefined;
}

/** The folder of a missing path may be missing too: whoever makes it will make it in the nearest folder that is there. */
async function addNearest(places: WatchedPlaces, path: string): Promise<void> {
  let at = path;
  while (dirname(at) !== at && (await kindOf(dirname(at))) === 'missing') {
    places.delete(dirname(at));
    at = dirname(at);
  }
  addName(places, dirname(at), basename(at));
}

async function kindOf(path: string): Promise<'missing' | 'link' | 'other'> {
  try {
    return (await lstat(path)).isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    if (isMissing(error)) return 'missing';
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
