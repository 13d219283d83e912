/** Hands out the ranges of user ids to pods that want users of their own. What is in the pods' folders is what is taken. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import { chooseRange, decodeRange, encodeRange, type IdRange } from './rules/id-range.ts';

export interface UserNamespaces {
  /** The pod's range; a new one is on disk before it is told. The pod's folder must be there. */
  rangeOf(uid: PodUid): Promise<Parsed<IdRange>>;
}

export interface UserNamespacesConfig {
  /** The folder that has a folder for each pod. */
  readonly podsFolder: string;
  readonly idsPerPod: number;
  /** From 0 up to 1. */
  readonly chance: () => number;
}

const FILE = 'userns';

export function createUserNamespaces({ podsFolder, idsPerPod, chance }: UserNamespacesConfig): UserNamespaces {
  // One after the other, so that no two pods find the same range free.
  let last: Promise<unknown> = Promise.resolve();

  const read = async (uid: string): Promise<Parsed<IdRange> | undefined> => {
    try {
      return decodeRange(await readFile(join(podsFolder, uid, FILE), 'utf8'));
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
        return undefined;
      throw error;
    }
  };

  const handOut = async (uid: PodUid): Promise<Parsed<IdRange>> => {
    const own = await read(uid);
    if (own !== undefined) return own.ok ? own : unparsable(`user ids of pod ${uid}: ${own.problem}`);
    const used: IdRange[] = [];
    for (const name of await readdir(podsFolder)) {
      const other = await read(name);
      if (other?.ok) used.push(other.value);
    }
    const range = chooseRange(used, idsPerPod, chance());
    if (!range.ok) return range;
    await writeFile(join(podsFolder, uid, FILE), encodeRange(range.value), { mode: 0o600 });
    return parsed(range.value);
  };

  return {
    rangeOf: (uid) => {
      const next = last.then(() => handOut(uid));
      last = next.catch(() => undefined);
      return next;
    },
  };
}
