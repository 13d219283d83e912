/** Writes a file as a whole: a reader, or a kubelet that starts after a crash, finds the old content or the new, never a part of it. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a crash in the middle of a write leaves behind: `name.new`. The next write to the same file replaces it. */
export const TEMPORARY_SUFFIX = '.new';

export interface AtomicFileOptions {
  /** Less the process's umask, as everywhere. */
  readonly mode: number;
  /** The content survives a power failure: costs two syncs of the disk. Without it, a power failure can leave the file empty. */
  readonly durable: boolean;
  /** Creates a missing directory with this mode. Without it, a missing directory is an error. */
  readonly directoryMode?: number;
}

/** Two writes to the same file at the same time must not happen: the caller runs them one after the other. */
export async function writeFileAtomically(path: string, content: string, options: AtomicFileOptions): Promise<void> {
  const { durable, directoryMode } = options;
  const directory = dirname(path);
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (directoryMode !== undefined) await mkdir(directory, { recursive: true, mode: directoryMode });
  try {
    await writeContent(temporary, content, options);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to report
    throw error;
  }
  if (durable) await syncDirectory(directory);
}

async function writeContent(path: string, content: string, { mode, durable }: AtomicFileOptions): Promise<void> {
  await using file = await open(path, 'w', mode);
  await file.writeFile(content);
  if (durable) await file.sync();
}

/** The new name is in the directory, which the kernel writes at a time of its own. */
async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
