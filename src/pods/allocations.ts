/** The resources that the pods of this node were given, kept on disk: the next kubelet must not take a refused resize for granted. */

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
  /** The pod with the resources that it was given. The same object for the same pod, and the pod itself where nothing differs. */
  hold(pod: Pod): Pod;
  /** The pod that `hold` was given for this one, where it asks for other resources. */
  asked(held: Pod): Pod | undefined;
  /** The pod was admitted with these resources. They are on disk after the next `save`. */
  grant(pod: Pod): void;
  forget(uid: PodUid): void;
  uids(): readonly PodUid[];
  /** Writes what has changed. A failure is logged, and tried again by the next call. */
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
  const held = new WeakMap<Pod, Pod>();
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

  const withGiven = (pod: Pod): Pod => {
    const allocation = known.get(podUid(pod.metadata.uid));
    const given = allocation === undefined ? pod : withAllocation(pod, allocation, options);
    if (given === pod) {
      reported.delete(podUid(pod.metadata.uid));
      return pod;
    }
    refused.set(given, pod);
    report(pod);
    return given;
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
    hold: (pod) => {
      const before = held.get(pod);
      if (before !== undefined) return before;
      const given = withGiven(pod);
      held.set(pod, given);
      return given;
    },
    asked: (pod) => refused.get(pod),
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
        // Not synced to the disk: with the power the containers are gone too, and their pods are admitted again.
        const options = { mode: 0o640, directoryMode: 0o750, durable: false };
        await writeFileAtomically(file, encodeAllocations(known), options);
      } catch (error) {
        changed = true;
        log.error('Failed to write the resources allocated to pods', { err: error, path: file });
      }
    },
  };
}
