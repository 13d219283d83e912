/** What was last read of each pod, and which pod each sandbox and container belongs to. */
import type { PodUid } from '../../api/ids.ts';
import { idsOf, type Listed, type ListedPod } from './lists.ts';
import { fingerprint } from './rules/reading.ts';
import { createStatusCache, type StatusCache, type StatusCalls } from './status-cache.ts';

export interface KnownPods {
  cacheOf(uid: PodUid): StatusCache;
  /** The pod that a sandbox or container belongs to. */
  owner(id: string): PodUid | undefined;
  /** This pod was read. */
  noteRead(uid: PodUid, listed: Listed): void;
  /** Everything was listed. Answers the pods that are not as they were when they were last read. */
  noteList(found: ReadonlyMap<PodUid, ListedPod>): readonly PodUid[];
  forget(uid: PodUid): void;
}

interface Known {
  readonly cache: StatusCache;
  fingerprint: string;
}

export function createKnownPods(calls: StatusCalls): KnownPods {
  const pods = new Map<PodUid, Known>();
  const owners = new Map<string, PodUid>();
  return {
    cacheOf: (uid) => {
      const entry = pods.get(uid) ?? { cache: createStatusCache(calls), fingerprint: '' };
      pods.set(uid, entry);
      return entry.cache;
    },
    owner: (id) => owners.get(id),
    noteRead: (uid, listed) => {
      const ids = idsOf(listed);
      for (const id of ids) owners.set(id, uid);
      const entry = pods.get(uid);
      // It may have been forgotten while its statuses were read.
      if (entry === undefined) return;
      entry.cache.keepOnly(new Set(ids));
      entry.fingerprint = fingerprint(listed.sandboxes, listed.containers);
    },
    noteList: (found) => {
      const changed: PodUid[] = [];
      owners.clear();
      for (const [uid, listed] of found) {
        for (const id of idsOf(listed)) owners.set(id, uid);
        if (pods.get(uid)?.fingerprint !== fingerprint(listed.sandboxes, listed.containers)) changed.push(uid);
      }
      for (const [uid, entry] of pods) if (!found.has(uid) && entry.fingerprint !== '') changed.push(uid);
      return changed;
    },
    forget: (uid) => void pods.delete(uid),
  };
}
