/**
 * Gives the files of a volume that outlives its pod to the pod's group. There may be a million of them: the work is done in its own
 * process, and an event says why a pod waits long for it.
 */

import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { FileJobs } from '../host/file-jobs.ts';
import type { RecordPodEvent } from '../model/event.ts';
import { groupChangeIsSlow, groupChangeProgress } from './rules/messages.ts';
import { placeFromUid } from './rules/places.ts';

export interface OwnershipRequest {
  readonly pod: Pod;
  readonly directory: string;
  readonly fsGroup: number | undefined;
  readonly readOnly: boolean;
  /** The volume is on a mount that may hang. */
  readonly foreign: boolean;
}

export interface OwnershipDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly jobs: FileJobs;
  readonly record: RecordPodEvent;
}

const FIRST_EVENT_MS = 30_000;
const NEXT_EVENT_MS = 60_000;
/** As long as the count of files grows, a file system may take its time. */
const LONGEST_MS = 24 * 3600 * 1000;

export type GiveToGroup = (request: OwnershipRequest, signal: AbortSignal) => Promise<void>;

export function createOwnership({ clock, log, supervisor, jobs, record }: OwnershipDeps): GiveToGroup {
  /** Until the signal aborts. */
  const reportProgress = (request: OwnershipRequest, files: () => number, signal: AbortSignal): Promise<void> => {
    const place = placeFromUid(request.directory, request.pod.metadata.uid);
    const report = (message: string) =>
      record({ pod: request.pod.metadata, type: 'Warning', reason: 'VolumePermissionChangeInProgress', message });
    let events = 0;
    const pass = (): void => {
      report(events === 0 ? groupChangeIsSlow(place) : groupChangeProgress(place, files()));
      events += 1;
    };
    const rest = () => clock.sleep(events === 0 ? FIRST_EVENT_MS : NEXT_EVENT_MS, signal);
    const about = { podUID: request.pod.metadata.uid };
    return supervisor.run(
      { name: 'volume ownership progress', about, oneOfMany: true, restFirst: true, pass, rest },
      signal,
    );
  };

  return async (request, signal) => {
    const { pod, directory, fsGroup, readOnly, foreign } = request;
    if (fsGroup === undefined) return;
    const policy = pod.spec.securityContext?.fsGroupChangePolicy;
    let files = 0;
    using reports = linkSignal(signal);
    void reportProgress(request, () => files, reports.signal);
    const job = { kind: 'change-group', path: directory, gid: fsGroup, readOnly, policy } as const;
    try {
      const done = await jobs.run(job, {
        foreign,
        signal,
        deadlineMs: LONGEST_MS,
        onProgress: (count) => {
          files = count;
        },
      });
      if (done.failed > 0) {
        log.warn('Failed to change the group of some files of the volume', {
          podUID: pod.metadata.uid,
          directory,
          fsGroup,
          files: done.failed,
          err: done.firstFailure,
        });
      }
    } finally {
      reports.abort('done');
    }
  };
}
