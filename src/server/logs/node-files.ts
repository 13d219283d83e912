/** Opens files below the directory of the node's logs only: links are followed as long as they stay inside. */

import { type FileHandle, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '../../base/errno.ts';
import { codeOf } from '../../base/errors.ts';
import type { GuardedFiles } from '../../host/guarded-files.ts';

export type NodeFile =
  | { readonly kind: 'file'; readonly handle: FileHandle; readonly size: number; readonly changedAt: number }
  /** Names, those of directories with a slash. */
  | { readonly kind: 'directory'; readonly names: readonly string[] }
  | { readonly kind: 'missing' };

const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EXDEV', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'];
const MOST_NAMES = 100_000;

export async function openNodeFile(files: GuardedFiles, dir: string, path: string): Promise<NodeFile> {
  if (path.includes('\0')) return { kind: 'missing' };
  try {
    const root = await realpath(dir);
    // Without links from here on: a file that is replaced by a link meanwhile is not followed.
    const real = await realpath(join(root, path));
    if (!isInside(root, real)) return { kind: 'missing' };
    return (await listing(files, root, real)) ?? (await content(files, root, real));
  } catch (error) {
    // Pipes and devices count as missing.
    if (hasErrno(error, ...MISSING) || codeOf(error) === 'invalid') return { kind: 'missing' };
    throw error;
  }
}

const isInside = (root: string, real: string): boolean => real === root || real.startsWith(`${root}/`);

/** Undefined if it is no directory. */
async function listing(files: GuardedFiles, root: string, real: string): Promise<NodeFile | undefined> {
  try {
    using dir = files.directory(root, real);
    const names = await dir.names(MOST_NAMES);
    return { kind: 'directory', names: names.map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name)).sort() };
  } catch (error) {
    if (hasErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function content(files: GuardedFiles, root: string, real: string): Promise<NodeFile> {
  const handle = await files.open(root, real);
  try {
    const { size, mtimeMs } = await handle.stat();
    return { kind: 'file', handle, size, changedAt: mtimeMs };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
