/** Removes what the node still has of a pod that is over, in an order that leaves nothing behind if it is interrupted. */

import { describeError } from '../base/errors.ts';
import type { PodIdentity } from '../model/pod-identity.ts';
import type { CleanedUp, ReportStep } from '../model/step.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { CgroupsPort, LogsPort, VolumesPort } from './ports.ts';

export interface CleanUpDeps {
  readonly volumes: Pick<VolumesPort, 'cleanUp'>;
  readonly cgroups: Pick<CgroupsPort, 'remove'>;
  readonly directories: Pick<PodDirectories, 'remove'>;
  readonly logs: Pick<LogsPort, 'removePod'>;
}

export interface CleanUp {
  readonly pod: PodIdentity;
  readonly onStep: ReportStep;
}

export async function cleanUpPod(deps: CleanUpDeps, cleanUp: CleanUp, signal: AbortSignal): Promise<void> {
  const { pod } = cleanUp;
  await releasePod(deps, cleanUp, signal);
  await reported(cleanUp, 'directories', () => deps.directories.remove(pod.uid), signal);
  await reported(cleanUp, 'logs', () => deps.logs.removePod(pod), signal);
}

/** Removes what only a running pod needs. */
export async function releasePod(deps: CleanUpDeps, cleanUp: CleanUp, signal: AbortSignal): Promise<void> {
  const { uid } = cleanUp.pod;
  await reported(cleanUp, 'volumes', () => deps.volumes.cleanUp(uid, signal), signal);
  await reported(cleanUp, 'cgroup', () => deps.cgroups.remove(uid), signal);
}

async function reported(
  { onStep }: CleanUp,
  what: CleanedUp,
  call: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const subject = { kind: 'clean-up', what } as const;
  onStep({ kind: 'begun', subject });
  try {
    await call();
  } catch (error) {
    const failure = { reason: 'FailedKillPod', message: describeError(error) };
    if (!signal.aborted) onStep({ kind: 'failed', subject, failure });
    throw error;
  }
  onStep({ kind: 'done', subject });
}
