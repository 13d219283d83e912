/** The verdicts on each container, for plans and statuses; those that matter survive a restart. */
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { ProbeResults, ProbeVerdict } from '../model/probe-results.ts';
import type { ProbeType } from './rules/verdict.ts';
import type { KeptVerdicts, VerdictFiles } from './verdict-files.ts';

export interface Verdicts {
  readonly results: ProbeResults;
  get(type: ProbeType, id: ContainerId): ProbeVerdict | undefined;
  /** The verdict from before this kubelet ran: from the pod's file, else from the status that the pod came with. */
  recall(pod: Pod, id: ContainerId, type: ProbeType): ProbeVerdict;
  set(type: ProbeType, id: ContainerId, verdict: ProbeVerdict): void;
  /** Resolves when the verdict would survive a restart. One that is shown earlier may change back after a restart. */
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
      return keptOf(pod.metadata.uid).get(id)?.[type] ?? publishedVerdict(pod, id, type) ?? 'unknown';
    },
    set: (type, id, verdict) => void maps[type].set(id, verdict),
    keep: async (uid, type, id, verdict) => {
      const change = keepable(type, verdict);
      if (change === undefined) return;
      const all = keptOf(uid);
      all.set(id, { ...all.get(id), ...change });
      // Containers from before the restart of the kubelet that are gone by now.
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

/** From the status that the pod came with, if that is about the same container. */
function publishedVerdict({ status }: Pod, id: ContainerId, type: 'startup' | 'readiness'): ProbeVerdict | undefined {
  const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const published = all.find(({ containerID = '' }) => containerID.slice(containerID.indexOf('://') + 3) === id);
  if (published?.started !== true) return undefined;
  return type === 'startup' || published.ready ? 'success' : 'failure';
}
