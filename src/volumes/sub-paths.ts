/** Parts of volumes for containers with a `subPath`: each is mounted at its own path below the pod's directory. */

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodUid } from '../api/ids.ts';
import { type Parsed, parsed, unparsable } from '../api/parsed.ts';
import { isMissing } from '../base/errno.ts';
import { quoteText } from '../base/go-text.ts';
import type { Logger } from '../base/logger.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import { isForeign, type MountTable, mountsBelow } from '../host/mount-table.ts';
import { subPathPlace } from './rules/places.ts';

export interface SubPathsRequest {
  readonly uid: PodUid;
  readonly container: string;
  /** By index in `volumeMounts`. */
  readonly subPaths: readonly {
    readonly index: number;
    readonly volumeName: string;
    readonly volumePath: string;
    readonly subPath: string;
  }[];
}

export interface SubPaths {
  /** Where each was mounted, by index; a problem is one of the pod. */
  prepare(request: SubPathsRequest, signal: AbortSignal): Promise<Parsed<ReadonlyMap<number, string>>>;
  /** Unmounts and removes all of the pod's. */
  clean(uid: PodUid, signal: AbortSignal): Promise<void>;
}

export interface SubPathsDeps {
  readonly log: Logger;
  readonly jobs: FileJobs;
  readonly podDirectory: (uid: PodUid) => string;
  readonly mountTable: MountTable;
  /** The path leads over a mount that may hang. */
  readonly leadsToForeign: (path: string) => boolean;
}

export function createSubPaths(deps: SubPathsDeps): SubPaths {
  const { jobs, podDirectory } = deps;

  const clean: SubPaths['clean'] = async (uid, signal) => {
    const directory = join(podDirectory(uid), 'volume-subpaths');
    // Few pods have any: for the others the mount table is not read.
    if (!(await isThere(directory))) return;
    // The last one first: of several at one path it is the visible one.
    for (const entry of mountsBelow(deps.mountTable(directory), directory).toReversed()) {
      await jobs.run({ kind: 'unmount', path: entry.point }, { foreign: isForeign(entry), signal });
    }
    await jobs.run({ kind: 'remove', path: directory }, { foreign: false, signal });
  };

  return {
    prepare: async ({ uid, container, subPaths }, signal) => {
      const places = new Map<number, string>();
      for (const { index, volumeName, volumePath, subPath } of subPaths) {
        const target = subPathPlace(podDirectory(uid), { volume: volumeName, container, index });
        // An earlier mount at the target may hang as well.
        const foreign = deps.leadsToForeign(volumePath) || deps.leadsToForeign(target);
        try {
          await jobs.run({ kind: 'bind-sub-path', volumePath, subPath, target }, { foreign, signal });
        } catch (error) {
          if (signal.aborted) throw error;
          // The details are only logged: they could reveal to a pod what is on the node.
          deps.log.warn('Failed to prepare subPath for volumeMount of the container', {
            podUID: uid,
            container,
            volume: volumeName,
            subPath,
            err: error,
          });
          const where = `volumeMount ${quoteText(volumeName)} of container ${quoteText(container)}`;
          return unparsable(`failed to prepare subPath for ${where}`);
        }
        places.set(index, target);
      }
      return parsed(places);
    },
    clean,
  };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
