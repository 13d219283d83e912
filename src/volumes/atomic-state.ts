/** What is in the directory of a volume, and whether its files are the wanted ones. */

import { constants, type Dirent, readdirSync } from 'node:fs';
import { open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { inBatches } from './atomic-steps.ts';
import { type AtomicState, DATA_LINK, type FoundEntry } from './rules/atomic-plan.ts';
import { fileMode } from './rules/file-access.ts';
import type { Payload, ProjectedFile } from './rules/payload.ts';

export interface WantedFiles {
  readonly payload: Payload;
  readonly fsGroup: number | undefined;
  readonly medium: 'disk' | 'memory';
}

const NOTHING: AtomicState = { current: undefined, upToDate: false, entries: [] };

export async function readAtomicState(directory: string, wanted: WantedFiles): Promise<AtomicState> {
  // In memory a look costs less than a trip to another thread, and most directories are new.
  if (wanted.medium === 'memory' && readdirSync(directory).length === 0) return NOTHING;
  const [current, found] = await Promise.all([readDataLink(directory), readdir(directory, { withFileTypes: true })]);
  const upToDate = current !== undefined && (await holds(join(directory, current), wanted));
  return { current, upToDate, entries: found.map(entryOf) };
}

/** The name of the directory that is shown now; undefined where there is none. */
export async function readDataLink(directory: string): Promise<string | undefined> {
  try {
    return await readlink(join(directory, DATA_LINK));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function entryOf(entry: Dirent): FoundEntry {
  if (entry.isSymbolicLink()) return { name: entry.name, kind: 'link' };
  return { name: entry.name, kind: entry.isDirectory() ? 'directory' : 'other' };
}

async function holds(dir: string, { payload, fsGroup }: WantedFiles): Promise<boolean> {
  const names = await listFiles(dir);
  if (names === undefined || names.length !== payload.size || !names.every((name) => payload.has(name))) return false;
  const different: string[] = [];
  await inBatches([...payload], async ([path, file]) => {
    if (different.length > 0) return;
    const wanted = { ...file, mode: fileMode(file.mode, fsGroup) };
    if (!(await isSame(join(dir, path), wanted))) different.push(path);
  });
  return different.length === 0;
}

/** Undefined where the directory is missing or has what no one of ours makes. Node's own recursive list would follow links. */
async function listFiles(dir: string, inside = ''): Promise<readonly string[] | undefined> {
  const files: string[] = [];
  try {
    for (const entry of await readdir(join(dir, inside), { withFileTypes: true })) {
      const path = join(inside, entry.name);
      const found = entry.isDirectory() ? await listFiles(dir, path) : entry.isFile() ? [path] : undefined;
      if (found === undefined) return undefined;
      files.push(...found);
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return files;
}

async function isSame(path: string, file: ProjectedFile): Promise<boolean> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const { size, mode, uid } = await handle.stat();
  if (size !== file.data.length || (mode & 0o7777) !== file.mode || uid !== (file.owner ?? 0)) return false;
  return (await handle.readFile()).equals(file.data);
}
