/**
 * Static pods that another kubelet started run under a UID which that kubelet computed from the manifest in its own way. Where the mirror
 * pod shows that the manifest is still the same, the pod keeps the running UID instead of being restarted, for as long as the
 * manifest does not change. Adopted UIDs are on disk: the next kubelet needs no API server to know them.
 */

import { readFile } from 'node:fs/promises';
import type { Pod } from '../api/pod.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { isMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import type { FoundPod } from '../model/pod-identity.ts';
import { decodeAdopted, encodeAdopted } from './rules/adopted-record.ts';
import { judgeAdoption, underUid } from './rules/adoption.ts';

export interface Adoption extends Part {
  identify(pod: Pod, namesakes: readonly FoundPod[]): Pod | undefined;
  /** The static pods of the sources; UIDs that were adopted for others are forgotten. */
  keepOnly(pods: readonly Pod[]): void;
}

export interface AdoptionDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The file with the adopted UIDs. */
  readonly file: string;
  /** Undefined before the API server has listed them. */
  readonly mirrors: () => readonly Pod[] | undefined;
  /** Pods whose UID was not known can be identified now. */
  readonly onDecided: () => void;
}

/** With an API server that does not answer, a pod whose manifest may have changed does not wait longer. */
const LONGEST_WAIT_MS = 10_000;

export function createAdoption({ clock, log, file, mirrors, onDecided }: AdoptionDeps): Adoption {
  let adopted: ReadonlyMap<string, string> = new Map();
  let waitUntil: number | undefined;
  let writing: Promise<void> = Promise.resolve();
  const alarm = createAlarm(clock, onDecided);

  const write = (next: ReadonlyMap<string, string>): void => {
    adopted = next;
    const text = encodeAdopted(next);
    writing = writing
      .then(() => writeFileAtomically(file, text, { mode: 0o640, directoryMode: 0o750, durable: false }))
      .catch((error: unknown) => {
        log.warn('Failed to write the UIDs of adopted static pods', { path: file, err: describeError(error) });
      });
  };

  return {
    name: 'adoption of static pods',
    start: async () => {
      const text = await readFile(file, 'utf8').catch((error: unknown) => {
        if (!isMissing(error))
          log.warn('Failed to read the UIDs of adopted static pods', { path: file, err: describeError(error) });
        return undefined;
      });
      if (text === undefined) return;
      const record = decodeAdopted(text);
      if (record.ok) adopted = record.value;
      else log.warn('Failed to read the UIDs of adopted static pods', { path: file, problem: record.problem });
    },
    stop: async () => {
      alarm.clear();
      await writing;
    },
    identify: (pod, namesakes) => {
      const running = namesakes.filter(({ alive }) => alive).map(({ uid }) => String(uid));
      const verdict = judgeAdoption({ pod, running, mirrors: mirrors(), adopted: adopted.get(pod.metadata.uid) });
      if (verdict.kind === 'keep') return pod;
      if (verdict.kind === 'adopt') {
        if (adopted.get(pod.metadata.uid) !== verdict.uid) {
          log.info('Adopted the UID under which another kubelet started the static pod', { podUID: verdict.uid });
          write(new Map([...adopted, [pod.metadata.uid, verdict.uid]]));
        }
        return underUid(pod, verdict.uid);
      }
      waitUntil ??= clock.now() + LONGEST_WAIT_MS;
      if (clock.now() >= waitUntil) return pod;
      alarm.ringAt(waitUntil);
      return undefined;
    },
    keepOnly: (pods) => {
      const uids = new Set(pods.map(({ metadata }) => metadata.uid));
      const left = [...adopted].filter(([uid]) => uids.has(uid));
      if (left.length < adopted.size) write(new Map(left));
    },
  };
}
