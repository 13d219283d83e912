/** Ends pods that no source has and of which something is on the node, from before this kubelet started. */
import type { PodUid } from '../api/ids.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import type { PodSetTools } from './pod-set.ts';
import type { PodTable } from './pod-table.ts';
import type { PodsDeps } from './pods.ts';
import { beginTermination } from './rules/begin-state.ts';
import { fullName } from './rules/full-name.ts';
import type { WorkerState } from './rules/worker-state.ts';

export interface Orphans {
  end(isUnwanted: (pod: FoundPod) => boolean, signal: AbortSignal): void;
  /** Removes the records of pods that do not exist any more. */
  forget(isDesired: (uid: PodUid) => boolean): Promise<void>;
}

export interface OrphansTools extends Pick<PodSetTools, 'endings' | 'allocations' | 'requestReconcile'> {
  readonly table: PodTable;
  readonly begin: (state: WorkerState, signal: AbortSignal) => void;
}

const RETRY_MS = 1000;

export function createOrphans(deps: PodsDeps, tools: OrphansTools): Orphans {
  const { clock, log } = deps;
  const { endings, allocations, table, begin, requestReconcile } = tools;

  /** Not awaited: a runtime that does not answer for one of them must not delay the others. */
  const endOne = async (found: FoundPod, signal: AbortSignal): Promise<void> => {
    const about = { pod: fullName(found), podUID: found.uid };
    table.apply(found.uid, { kind: 'orphaned', found });
    log.info('Clean up containers for orphaned pod we had not seen before', about);
    try {
      const pod = await deps.restorePod(found, signal);
      begin(beginTermination(pod, { now: clock.now(), end: undefined, deleted: true }), signal);
    } catch (error) {
      if (signal.aborted) return;
      log.v(2)?.info('Failed to observe an orphaned pod, will retry', { err: error, ...about });
      await clock.sleep(RETRY_MS, signal).catch(() => undefined); // aborted: the kubelet stops
      table.apply(found.uid, { kind: 'not-restored' });
    }
    requestReconcile();
  };

  const forgetEnding = async (uid: PodUid): Promise<void> => {
    try {
      await endings.remove(uid);
    } catch (error) {
      log.warn('Failed to remove the record of how a pod ended, will retry', { err: error, podUID: uid });
    }
  };

  return {
    forget: async (isDesired) => {
      const isUnknown = (uid: PodUid) => !isDesired(uid) && table.worker(uid) === undefined;
      for (const uid of endings.uids()) if (isUnknown(uid)) await forgetEnding(uid);
      for (const uid of allocations.uids()) if (isUnknown(uid)) allocations.forget(uid);
    },
    end: (isUnwanted, signal) => {
      for (const found of table.allFound()) {
        const kind = table.entry(found.uid)?.kind;
        if (kind !== 'managed' && kind !== 'orphan' && isUnwanted(found)) void endOne(found, signal);
      }
    },
  };
}
