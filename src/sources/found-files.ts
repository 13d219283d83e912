/** The files that are there now. */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPathMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import { isManifestName } from './rules/manifest-files.ts';
import { addManifests, followLinks, type WatchedPlaces } from './watched-places.ts';

export interface FoundFile {
  readonly path: string;
  /** Where its links end. */
  readonly target: string;
  /** Another one after every change of the file. */
  readonly fingerprint: string;
  /** Wall clock, milliseconds. */
  readonly modifiedAt: number;
}

export type FoundManifests =
  | {
      readonly files: readonly FoundFile[];
      readonly skipped: readonly { readonly path: string; readonly text: string }[];
    }
  /** The files can't be listed. */
  | { readonly problem: string };

type Found = FoundFile | { readonly path: string; readonly text: string } | undefined;

/** All manifests at the path, in order, and the directories to watch for changes of them. A missing path has none. */
export async function findManifests(path: string, places: WatchedPlaces): Promise<FoundManifests> {
  try {
    const target = await followLinks(path, places);
    if (target === undefined) return { files: [], skipped: [] };
    if (!(await stat(target)).isDirectory()) return sortOut([await lookAt(path, target)]);
    addManifests(places, target);
    const entries = await readdir(target, { withFileTypes: true });
    const manifests = entries.filter(({ name }) => isManifestName(name));
    manifests.sort((left, right) => (left.name < right.name ? -1 : 1));
    const found: Found[] = [];
    for (const entry of manifests) {
      const own = join(target, entry.name);
      const end = entry.isSymbolicLink() ? await followLinks(own, places) : own;
      if (end !== undefined) found.push(await lookAt(join(path, entry.name), end));
    }
    return sortOut(found);
  } catch (error) {
    // Gone between two steps: as if it had been missing from the start.
    return isPathMissing(error) ? { files: [], skipped: [] } : { problem: `cannot be read: ${describeError(error)}` };
  }
}

async function lookAt(path: string, target: string): Promise<Found> {
  try {
    const facts = await stat(target, { bigint: true });
    if (facts.isDirectory()) return { path, text: 'is a directory; manifests in it are not read' };
    if (!facts.isFile()) return { path, text: 'is neither a file nor a directory' };
    const { dev, ino, size, mtimeNs, ctimeNs } = facts;
    return {
      path,
      target,
      fingerprint: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
      modifiedAt: Number(mtimeNs / 1_000_000n),
    };
  } catch (error) {
    if (isPathMissing(error)) return undefined;
    throw error;
  }
}

function sortOut(found: readonly Found[]): FoundManifests {
  const files: FoundFile[] = [];
  const skipped: { path: string; text: string }[] = [];
  for (const one of found) {
    if (one === undefined) continue;
    if ('fingerprint' in one) files.push(one);
    else skipped.push(one);
  }
  return { files, skipped };
}
