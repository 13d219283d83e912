/** Files below the folder of the node's logs, and nothing else: links are followed only as long as they stay inside. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

export type NodeFile =
  | { readonly kind: 'file'; readonly handle: FileHandle; readonly size: number; readonly changedAt: number }
  /** Names, those of folders with a slash. */
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'missing' };

/** Not for writing, and never waiting for the other end of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']);

export async function openNodeFile(folder: string, path: string): Promise<NodeFile> {
  if (path.includes('\0')) return { kind: 'missing' };
  try {
    const root = await realpath(folder);
    const real = await realpath(join(root, path));
    if (!isInside(root, real)) return { kind: 'missing' };
    const handle = await open(real, FLAGS);
    try {
      return await describe(handle, root);
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? '')) return { kind: 'missing' };
    throw error;
  }
}

const isInside = (root: string, real: string): boolean => real === root || real.startsWith(`${root}/`);

async function describe(handle: FileHandle, root: string): Promise<NodeFile> {
  // What was opened counts, not what was there when its path was looked at.
  const opened = await readlink(`/proc/self/fd/${handle.fd}`);
  const stats = await handle.stat();
  if (isInside(root, opened) && stats.isFile()) {
    return { kind: 'file', handle, size: stats.size, changedAt: stats.mtimeMs };
  }
  await handle.close();
  if (!isInside(root, opened) || !stats.isDirectory()) return { kind: 'missing' };
  const entries = await readdir(opened, { withFileTypes: true });
  return { kind: 'folder', names: entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort() };
}
