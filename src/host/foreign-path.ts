/** Finds out whether a path leads over a mount that may hang, without touching any such mount. */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isForeign, type MountEntry, mountOf } from './mount-table.ts';

const MOST_LINKS = 40;

/** Goes down name by name: what is asked for is always on a mount that was looked up before. */
export function leadsToForeign(table: readonly MountEntry[], path: string): boolean {
  let links = 0;
  let at = '/';
  let rest = namesOf(resolve('/', path));
  while (rest.length > 0) {
    const [name = '', ...others] = rest;
    at = join(at, name);
    rest = others;
    const mount = mountOf(table, at);
    if (mount !== undefined && isForeign(mount)) return true;
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (!found.isSymbolicLink()) continue;
    links += 1;
    // The kernel refuses such a path by itself.
    if (links > MOST_LINKS) return false;
    rest = [...namesOf(resolve(dirname(at), readlinkSync(at))), ...rest];
    at = '/';
  }
  return false;
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '');
