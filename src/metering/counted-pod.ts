/** A pod as the metrics count it. */
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import type { PodView } from '../model/pod-view.ts';
import type { CountedPod } from '../telemetry/metrics-pods.ts';
import { containerType } from './metering.ts';

/** Volumes that come and go with their pod and need no other component. */
const STATELESS = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const;

export function countedPod({ uid, pod, step, observation, startedAt, ended, deleted }: PodView): CountedPod {
  const { spec, metadata } = pod;
  const created = metadata.creationTimestamp;
  return {
    uid,
    isStatic: isStaticPod(pod),
    step,
    isDesired: !deleted,
    hasRunningSandbox: observation.sandboxes.some(({ ready }) => ready),
    ephemeralContainers: spec.ephemeralContainers?.length ?? 0,
    wantedContainers: spec.containers.length,
    seenAt: startedAt,
    createdAt: created === undefined || created === null ? undefined : parseTimestamp(created),
    rejection: ended?.rejected ? ended.reason : undefined,
    hasOwnNetwork: spec.hostNetwork !== true,
    isStateful: (spec.volumes ?? []).some((volume) => STATELESS.every((kind) => volume[kind] === undefined)),
    sandboxes: observation.sandboxes,
    containers: observation.containers.map(
      ({ id, name, state, createdAt, startedAt: from, finishedAt, exitCode, reason }) => ({
        id,
        type: containerType(pod, name),
        state,
        createdAt,
        ranForMs: state === 'exited' && finishedAt > from ? finishedAt - from : 0,
        exitCode,
        reason,
      }),
    ),
  };
}

/** How many pods the sources have, static ones and others. */
export function countDesired(desired: readonly Pod[]): { readonly fromFiles: number; readonly fromApi: number } {
  const fromFiles = desired.filter(isStaticPod).length;
  return { fromFiles, fromApi: desired.length - fromFiles };
}

/** How many resizes wait, by reason, and how many are in progress. */
export function countResizes(views: readonly Pick<PodView, 'resize' | 'step'>[]) {
  const pending = new Map<string, number>();
  let inProgress = 0;
  for (const { resize, step } of views) {
    if (step === 'terminated') continue;
    if (resize?.inProgress !== undefined) inProgress += 1;
    const reason = resize?.pending?.reason.toLowerCase();
    if (reason !== undefined) pending.set(reason, (pending.get(reason) ?? 0) + 1);
  }
  return { pending, inProgress };
}
