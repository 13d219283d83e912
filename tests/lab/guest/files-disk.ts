/** The way in for files: a disk of their own, mounted read-only at /files in the guest. */
import { copyFile, cp, link, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { captureOk } from '../../../tools/machine/capture.ts';
import { isCode } from '../../../tools/machine/cgroup-trees.ts';

/** A file or directory of the machine, by its path, or content given here. */
export type GuestFile = string | { readonly content: string | Buffer; readonly mode?: number };

/** By the path below /files. */
export type GuestFiles = Readonly<Record<string, GuestFile>>;

export const FILES_DIRECTORY = '/files';

const MIB = 1024 * 1024;
/** Inodes, bitmaps and directories of a file system with few files. */
const ROOM_MIB = 16;
const GROWTH = 1.05;

export async function makeFilesDisk(files: GuestFiles, disk: string): Promise<void> {
  const staging = `${disk}.d`;
  await mkdir(staging);
  try {
    for (const [name, file] of Object.entries(files)) await stage(file, join(staging, checkedName(name)));
    const megabytes = Math.ceil(((await sizeOf(staging)) / MIB) * GROWTH) + ROOM_MIB;
    await captureOk([
      ...['mkfs.ext4', '-q', '-F', '-m', '0', '-O', '^has_journal', '-L', 'files'],
      ...['-E', 'root_owner=0:0', '-d', staging, disk, `${megabytes}M`],
    ]);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

export function checkedName(name: string): string {
  const path = normalize(name);
  if (name === '' || path === '.' || path === '..' || path.startsWith('../') || isAbsolute(path)) {
    throw new Error(`files for the guest: ${JSON.stringify(name)} is no path below ${FILES_DIRECTORY}`);
  }
  return path;
}

async function stage(file: GuestFile, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  if (typeof file !== 'string') {
    await writeFile(target, file.content, { mode: file.mode ?? 0o644 });
  } else if ((await stat(file)).isDirectory()) {
    await cp(file, target, { recursive: true, verbatimSymlinks: true });
  } else {
    await linkOrCopy(file, target);
  }
}

/** Big programs are only linked where the file system allows: mkfs reads them once anyway. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!isCode(error, 'EXDEV', 'EPERM', 'EMLINK')) throw error;
    await copyFile(source, target);
  }
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
