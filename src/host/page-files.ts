/** The files of the page on port 4194: inside the executable, or in a directory beside the bundle. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { isMissing } from '../base/errno.ts';

/** Undefined: there is none of that name, or this program was started without a bundle. */
export async function readPageFile(script: string, name: string): Promise<Uint8Array | undefined> {
  const file = basename(name);
  if (isSea()) return readAsset(file);
  try {
    return await readFile(join(dirname(script), 'ui', file));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function readAsset(file: string): Uint8Array | undefined {
  try {
    return new Uint8Array(getRawAsset(`ui/${file}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SINGLE_EXECUTABLE_APPLICATION_ASSET_NOT_FOUND') return undefined;
    throw error;
  }
}
