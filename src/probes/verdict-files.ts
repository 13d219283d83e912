/**
 * Keeps verdicts over a restart of the kubelet: readiness, and that a container has passed its startup probe. One small file for each
 * pod, in the pod's own directory, so that it is removed with it. Ids of containers are never used twice: a verdict that is found still holds.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContainerId, containerId } from '../api/ids.ts';
import { isMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';

export interface KeptVerdicts {
  readonly startup?: 'success';
  readonly readiness?: 'success' | 'failure';
}

export type VerdictsOfPod = ReadonlyMap<ContainerId, KeptVerdicts>;

export interface VerdictFiles {
  read(uid: string): VerdictsOfPod;
  /** Resolves also if it can't be written: after a restart the container is probed again then. */
  write(uid: string, verdicts: VerdictsOfPod): Promise<void>;
}

const FILE = 'probes.json';
const FORMAT = 1;

export function createVerdictFiles(podDirectory: (uid: string) => string, log: Logger): VerdictFiles {
  return {
    // Read synchronously, once for each pod: the first status after a restart needs it.
    read: (uid) => {
      try {
        return parseVerdicts(readFileSync(join(podDirectory(uid), FILE), 'utf8'));
      } catch (error) {
        if (!isMissing(error)) {
          log.warn('Failed to read the probe verdicts of a pod, probing it again', { podUID: uid, err: error });
        }
        return new Map();
      }
    },
    write: async (uid, verdicts) => {
      const path = join(podDirectory(uid), FILE);
      const text = JSON.stringify({ version: FORMAT, containers: Object.fromEntries(verdicts) });
      try {
        await writeFileAtomically(path, `${text}\n`, { mode: 0o600, durable: false });
      } catch (error) {
        // The directory is removed with the pod.
        if (isMissing(error)) return;
        log.warn('Failed to write the probe verdicts of a pod', { podUID: uid, err: describeError(error) });
      }
    },
  };
}

export function parseVerdicts(text: string): VerdictsOfPod {
  const value: unknown = JSON.parse(text);
  const found = new Map<ContainerId, KeptVerdicts>();
  if (!isObject(value) || value['version'] !== FORMAT || !isObject(value['containers'])) return found;
  for (const [id, kept] of Object.entries(value['containers'])) {
    if (!isObject(kept)) continue;
    const { startup, readiness } = kept;
    found.set(containerId(id), {
      ...(startup === 'success' ? { startup } : {}),
      ...(readiness === 'success' || readiness === 'failure' ? { readiness } : {}),
    });
  }
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
