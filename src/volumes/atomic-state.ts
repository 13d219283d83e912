/** What is in the directory of a volume, and whether its files are the desired ones. */

import { constants, type Dirent, readdirSync } from 'node:fs';
import { open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { inBatches } from './atomic-steps.ts';
import { type AtomicState, DATA_LINK, type FoundEntry } from './rules/atomic-plan.ts';
import { fileMode } from './rules/file-access.ts';
import type { Payload, ProjectedFile } from './rules/payload.ts';

export interface DesiredFiles {
  readonly payload: Payload;
  readonly fsGroup: number | undefined;
  readonly medium: 'disk' | 'memory';
}

const NOTHING: AtomicState = { current: undefined, upToDate: false, entries: [] };

export async function readAtomicState(directory: string, desired: DesiredFiles): Promise<AtomicState> {
  // In memory a read costs less than a call on another thread, and most directories are new.
  if (desired.medium === 'memory' && readdirSync(directory).length === 0) return NOTHING;
  const [current, found] = await Promise.all([readDataLink(directory), readdir(directory, { withFileTypes: true })]);
  const upToDate = current !== undefined && (await holds(join(directory, current), desired));
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

async function holds(dir: string, { payload, fsGroup }: DesiredFiles): Promise<boolean> {
  const names = await listFiles(dir);
  if (names === undefined || names.length !== payload.size || !names.every((name) => payload.has(name))) return false;
  const different: string[] = [];
  await inBatches([...payload], async ([path, file]) => {
    if (different.length > 0) return;
    const desired = { ...file, mode: fileMode(file.mode, fsGroup) };
    if (!(await isSame(join(dir, path), desired))) different.push(path);
  });
  return different.length === 0;
}

/** Undefined where the directory is missing or contains something that no kubelet makes. Node's own recursive list would follow links. */
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
