/** What is known about each pod of this node, by UID: its entry, its last view, and what the last list of the node showed. */
import type { PodUid } from '../api/ids.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { PodView } from '../model/pod-view.ts';
import { leftOnNode, nextEntry, type PodEntry, type PodEntryEvent } from './rules/pod-entry.ts';
import type { Worker } from './worker.ts';

export interface PodTable {
  entry(uid: PodUid): PodEntry<Worker> | undefined;
  apply(uid: PodUid, event: PodEntryEvent<Worker>): void;
  worker(uid: PodUid): Worker | undefined;
  workers(): readonly Worker[];
  orphans(): readonly FoundPod[];
  /** Pods that the API server alone still has are forgotten once it does not have them any more. */
  forgetOver(isDesired: (uid: PodUid) => boolean): void;
  found(uid: PodUid): FoundPod | undefined;
  allFound(): readonly FoundPod[];
  setFound(pods: readonly FoundPod[]): void;
  /** Those that are found already stay as they are. */
  addFound(uids: readonly PodUid[]): void;
  readonly views: Map<PodUid, PodView>;
}

export function createPodTable(): PodTable {
  const entries = new Map<PodUid, PodEntry<Worker>>();
  const found = new Map<PodUid, FoundPod>();
  const views = new Map<PodUid, PodView>();

  const put = <Value>(map: Map<PodUid, Value>, uid: PodUid, value: Value | undefined): void => {
    if (value === undefined) map.delete(uid);
    else map.set(uid, value);
  };

  const apply = (uid: PodUid, event: PodEntryEvent<Worker>): void => {
    put(entries, uid, nextEntry(entries.get(uid), event));
    if (event.kind !== 'gone') return;
    views.delete(uid);
    put(found, uid, leftOnNode(event.last));
  };

  return {
    entry: (uid) => entries.get(uid),
    apply,
    worker: (uid) => {
      const entry = entries.get(uid);
      return entry?.kind === 'managed' ? entry.worker : undefined;
    },
    workers: () => [...entries.values()].flatMap((entry) => (entry.kind === 'managed' ? [entry.worker] : [])),
    orphans: () => [...entries.values()].flatMap((entry) => (entry.kind === 'orphan' ? [entry.found] : [])),
    forgetOver: (isDesired) => {
      for (const [uid, { kind }] of entries)
        if (kind === 'over' && !isDesired(uid)) apply(uid, { kind: 'not-desired' });
    },
    found: (uid) => found.get(uid),
    allFound: () => [...found.values()],
    setFound: (pods) => {
      found.clear();
      for (const pod of pods) found.set(pod.uid, pod);
    },
    addFound: (uids) => {
      for (const uid of uids) {
        if (!found.has(uid)) found.set(uid, { uid, name: '', namespace: '', alive: false });
      }
    },
    views,
  };
}
