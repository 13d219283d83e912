/**
 * How pods ended that can't be observed again (rejected, evicted, past their deadline, finished), one file for each. It is written
 * before the pod is stopped, so that a kubelet that is killed in between does not start the pod again.
 */

import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPodUid, type PodUid, podUid } from '../api/ids.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import type { PodEnding } from '../model/pod-view.ts';
import { decodeEnding, encodeEnding } from './rules/ending-record.ts';
import type { Endings } from './worker-deps.ts';

export interface EndingStore extends Endings {
  /** Reads what an earlier kubelet wrote. A file that can't be read is logged and left as it is. */
  load(): Promise<void>;
  /** Undefined: this pod has not ended. */
  of(uid: PodUid): { readonly end: PodEnding | undefined } | undefined;
  uids(): readonly PodUid[];
}

const ENDING = '.json';

export function createEndingStore(directory: string, log: Logger): EndingStore {
  const known = new Map<PodUid, { readonly end: PodEnding | undefined }>();
  const pathOf = (uid: PodUid): string => {
    if (!isPodUid(uid)) throw new CodedError('invalid', `pod UID ${JSON.stringify(uid)} can't name a file`);
    return join(directory, `${uid}${ENDING}`);
  };
  const loadOne = async (name: string): Promise<void> => {
    const path = join(directory, name);
    const record = decodeEnding(await readFile(path, 'utf8'));
    if (record.ok) known.set(podUid(name.slice(0, -ENDING.length)), { end: record.value });
    else log.error('Record of an ended pod is unreadable', { path, problem: record.problem });
  };
  return {
    load: async () => {
      await mkdir(directory, { recursive: true, mode: 0o750 });
      const names = (await readdir(directory)).filter((name) => name.endsWith(ENDING));
      for (const name of names) await loadOne(name);
    },
    of: (uid) => known.get(uid),
    uids: () => [...known.keys()],
    write: async (pod, end) => {
      if (known.has(pod.uid)) return;
      // A rejection that is lost in a power failure is only decided again.
      const durable = end?.rejected !== true;
      const options = { mode: 0o640, directoryMode: 0o750, durable };
      await writeFileAtomically(pathOf(pod.uid), encodeEnding(pod, end), options);
      known.set(pod.uid, { end });
    },
    remove: async (uid) => {
      if (!known.has(uid)) return;
      await rm(pathOf(uid), { force: true });
      known.delete(uid);
    },
  };
}
