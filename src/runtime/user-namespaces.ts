/** Allocates ranges of user ids to pods with a user namespace of their own. The files in the pods' directories are the record of what is in use. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import { isPathMissing } from '../base/errno.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { chooseIdRange, encodeIdRange, ID_RANGE_FILE, type IdSpace, parseIdRange } from './spec/id-ranges.ts';
import type { IdRange } from './spec/namespaces.ts';
import { readIdSpace, type SubIdsConfig, type SubIdsDeps } from './sub-ids.ts';

export interface UserNamespaces {
  /** The pod's range; a new one is on disk before it is returned. The pod's directory must exist. */
  rangeOf(uid: PodUid): Promise<Parsed<IdRange>>;
}

export interface UserNamespacesDeps extends SubIdsDeps {
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface UserNamespacesConfig extends SubIdsConfig {
  /** The directory that has a directory for each pod. */
  readonly podsDirectory: string;
}

export function createUserNamespaces(deps: UserNamespacesDeps, config: UserNamespacesConfig): UserNamespaces {
  const { podsDirectory, idsPerPod } = config;
  // One after the other, so that no two pods find the same range free.
  let last: Promise<unknown> = Promise.resolve();
  let space: IdSpace | undefined;

  const read = async (uid: string): Promise<Parsed<IdRange> | undefined> => {
    try {
      return parseIdRange(await readFile(join(podsDirectory, uid, ID_RANGE_FILE), 'utf8'));
    } catch (error) {
      if (isPathMissing(error)) return undefined;
      throw error;
    }
  };

  const handOut = async (uid: PodUid): Promise<Parsed<IdRange>> => {
    const own = await read(uid);
    if (own !== undefined) return own.ok ? own : unparsable(`user ids of pod ${uid}: ${own.problem}`);
    const taken = new Set<number>();
    for (const name of await readdir(podsDirectory)) {
      const other = await read(name);
      if (other?.ok) taken.add(other.value.hostId);
    }
    if (space === undefined) {
      const found = await readIdSpace(deps, config);
      if (!found.ok) return found;
      space = found.value;
    }
    const range = chooseIdRange(space, taken, Math.floor((deps.random() * space.length) / idsPerPod));
    if (range === undefined)
      return unparsable(`no range of ${idsPerPod} user ids is free: ${taken.size} pods have one`);
    const file = join(podsDirectory, uid, ID_RANGE_FILE);
    await writeFileAtomically(file, encodeIdRange(range), { mode: 0o600, durable: false });
    return parsed(range);
  };

  return {
    rangeOf: (uid) => {
      const next = last.then(() => handOut(uid));
      last = next.catch(() => undefined);
      return next;
    },
  };
}
