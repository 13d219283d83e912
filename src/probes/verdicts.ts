/** What is known of each container, for those who decide and those who show; kept over a restart where that matters. */
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { ProbeResults, ProbeVerdict } from '../model/probe-results.ts';
import type { ProbeType } from './rules/verdict.ts';
import type { KeptVerdicts, VerdictFiles } from './verdict-files.ts';

export interface Verdicts {
  readonly results: ProbeResults;
  get(type: ProbeType, id: ContainerId): ProbeVerdict | undefined;
  /** What was known of the container before this kubelet ran: from its file, else from the status that it was given. */
  recall(pod: Pod, id: ContainerId, type: ProbeType): ProbeVerdict;
  set(type: ProbeType, id: ContainerId, verdict: ProbeVerdict): void;
  /** Resolves when the verdict would survive. Who shows a verdict before that may have to take it back after a restart. */
  keep(uid: string, type: ProbeType, id: ContainerId, verdict: ProbeVerdict): Promise<void>;
  forget(uid: string, id: ContainerId): void;
  forgetPod(uid: string): void;
}

export function createVerdicts(files: VerdictFiles): Verdicts {
  const maps = {
    startup: new Map<ContainerId, ProbeVerdict>(),
    readiness: new Map<ContainerId, ProbeVerdict>(),
    liveness: new Map<ContainerId, ProbeVerdict>(),
  };
  const kept = new Map<string, Map<ContainerId, KeptVerdicts>>();
  const writes = new Map<string, Promise<void>>();

  const keptOf = (uid: string): Map<ContainerId, KeptVerdicts> => {
    const known = kept.get(uid);
    if (known !== undefined) return known;
    const read = new Map(files.read(uid));
    kept.set(uid, read);
    return read;
  };

  const isKnown = (id: ContainerId): boolean => Object.values(maps).some((map) => map.has(id));

  return {
    results: maps,
    get: (type, id) => maps[type].get(id),
    recall: (pod, id, type) => {
      if (type === 'liveness') return 'unknown';
      return keptOf(pod.metadata.uid).get(id)?.[type] ?? toldBefore(pod, id, type) ?? 'unknown';
    },
    set: (type, id, verdict) => void maps[type].set(id, verdict),
    keep: async (uid, type, id, verdict) => {
      const change = keepable(type, verdict);
      if (change === undefined) return;
      const all = keptOf(uid);
      all.set(id, { ...all.get(id), ...change });
      // Containers of before the restart of the kubelet that are gone since.
      for (const other of all.keys()) if (!isKnown(other)) all.delete(other);
      // One after the other, so that the last one to be written is the newest.
      const write = (writes.get(uid) ?? Promise.resolve()).then(() => files.write(uid, all));
      writes.set(uid, write);
      await write;
      if (writes.get(uid) === write) writes.delete(uid);
    },
    forget: (uid, id) => {
      for (const map of Object.values(maps)) map.delete(id);
      kept.get(uid)?.delete(id);
    },
    forgetPod: (uid) => void kept.delete(uid),
  };
}

function keepable(type: ProbeType, verdict: ProbeVerdict): KeptVerdicts | undefined {
  if (type === 'readiness' && verdict !== 'unknown') return { readiness: verdict };
  return type === 'startup' && verdict === 'success' ? { startup: verdict } : undefined;
}

/** The status of the pod as the API server had it tells of this very container, or of none. */
function toldBefore({ status }: Pod, id: ContainerId, type: 'startup' | 'readiness'): ProbeVerdict | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const told = all.find(({ containerID = '' }) => containerID.slice(containerID.indexOf('://') + 3) === id);
  if (told?.started !== true) return undefined;
  return type === 'startup' || told.ready ? 'success' : 'failure';
}
