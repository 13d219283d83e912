/** The resources allocated to the pods of this node, kept on disk: the next kubelet must not apply a resize that was refused. */

import { readFile } from 'node:fs/promises';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import {
  type Allocation,
  type AllocationOptions,
  allocationOf,
  resizeRefusedMessage,
  wasRefused,
  withAllocation,
} from './rules/allocation.ts';
import { decodeAllocations, encodeAllocations } from './rules/allocation-record.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Allocations {
  /** Reads what an earlier kubelet wrote. */
  load(): Promise<void>;
  /** The pod with the resources that were allocated to it. The same object for the same pod, and the pod itself where nothing differs. */
  withAllocated(pod: Pod): Pod;
  /** The pod that `withAllocated` was called with for this one, where its spec requests other resources. */
  requested(pod: Pod): Pod | undefined;
  /** The pod was admitted with these resources. They are on disk after the next `save`. */
  grant(pod: Pod): void;
  forget(uid: PodUid): void;
  uids(): readonly PodUid[];
  /** Writes what has changed. A failure is logged, and the next call retries. */
  save(): Promise<void>;
}

export interface AllocationsDeps {
  readonly log: Logger;
  readonly record: WorkerDeps['record'];
}

export function createAllocations(file: string, deps: AllocationsDeps, options: AllocationOptions): Allocations {
  const { log, record } = deps;
  let known = new Map<PodUid, Allocation>();
  let changed = false;
  const results = new WeakMap<Pod, Pod>();
  const refused = new WeakMap<Pod, Pod>();
  /** The generation whose resize was last reported as refused. */
  const reported = new Map<PodUid, number | undefined>();

  const report = (pod: Pod): void => {
    const { generation } = pod.metadata;
    const uid = podUid(pod.metadata.uid);
    const isReported = (reported.has(uid) && reported.get(uid) === generation) || wasRefused(pod);
    reported.set(uid, generation);
    if (isReported) return;
    record({ pod: pod.metadata, type: 'Warning', reason: 'ResizeInfeasible', message: resizeRefusedMessage(pod) });
  };

  const compute = (pod: Pod): Pod => {
    const allocation = known.get(podUid(pod.metadata.uid));
    const allocated = allocation === undefined ? pod : withAllocation(pod, allocation, options);
    if (allocated === pod) {
      reported.delete(podUid(pod.metadata.uid));
      return pod;
    }
    refused.set(allocated, pod);
    report(pod);
    return allocated;
  };

  return {
    load: async () => {
      const text = await readFile(file, 'utf8').catch((error: unknown) => {
        if (!isMissing(error)) log.error('Failed to read the resources allocated to pods', { err: error });
        return undefined;
      });
      if (text === undefined) return;
      const record = decodeAllocations(text);
      if (record.ok) known = new Map([...record.value].map(([uid, allocation]) => [podUid(uid), allocation]));
      else
        log.error('The record of resources allocated to pods is unreadable', { path: file, problem: record.problem });
    },
    withAllocated: (pod) => {
      const known = results.get(pod);
      if (known !== undefined) return known;
      const allocated = compute(pod);
      results.set(pod, allocated);
      return allocated;
    },
    requested: (pod) => refused.get(pod),
    grant: (pod) => {
      const uid = podUid(pod.metadata.uid);
      if (known.has(uid)) return;
      known.set(uid, allocationOf(pod, options));
      changed = true;
    },
    forget: (uid) => {
      reported.delete(uid);
      changed = known.delete(uid) || changed;
    },
    uids: () => [...known.keys()],
    save: async () => {
      if (!changed) return;
      changed = false;
      try {
        // Not synced to the disk: a power failure ends the containers too, and their pods are admitted again.
        const options = { mode: 0o640, directoryMode: 0o750, durable: false };
        await writeFileAtomically(file, encodeAllocations(known), options);
      } catch (error) {
        changed = true;
        log.error('Failed to write the resources allocated to pods', { err: error, path: file });
      }
    },
  };
}
