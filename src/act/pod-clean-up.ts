/** Takes away what the node still has of a pod that is over, in an order that leaves nothing behind if it is cut off. */

import type { PodIdentity } from '../model/pod-identity.ts';
import type { ActDeps } from './act.ts';

export type CleanUpDeps = Pick<ActDeps, 'volumes' | 'cgroups' | 'directories' | 'logs'>;

export async function cleanUpPod(deps: CleanUpDeps, pod: PodIdentity, signal: AbortSignal): Promise<void> {
  await deps.volumes.cleanUp(pod.uid, signal);
  await deps.cgroups.remove(pod.uid);
  await deps.directories.remove(pod.uid);
  await deps.logs.removePod(pod);
}
