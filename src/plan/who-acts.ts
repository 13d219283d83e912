/** Who has to act before a step can go on. */
import type { Actor, StepFailure, StepSubject } from '../model/step.ts';
import type { VolumeProgress, VolumeTry } from '../model/volume-progress.ts';

/** By the step alone: who is waited for while it is under way. */
export function actorOfStep({ kind }: StepSubject): Actor {
  switch (kind) {
    case 'image':
      return 'registry';
    case 'container-config':
      return 'api-server';
    case 'volumes':
    case 'volume':
      return 'volume';
    case 'hook':
    case 'container':
    case 'container-stop':
      return 'container';
    case 'sandbox-create':
    case 'container-create':
    case 'container-start':
    case 'container-remove':
    case 'sandbox-stop':
    case 'sandbox-remove':
      return 'runtime';
    case 'admission':
    case 'resource-claims':
    case 'directories':
    case 'cgroup':
    case 'pod-resize':
    case 'clean-up':
      return 'node';
  }
}

/** Reasons that say more than their step does. */
const BY_REASON: ReadonlyMap<string, Actor> = new Map([
  ['InvalidImageName', 'user'],
  ['ErrImageNeverPull', 'user'],
  ['ImageInspectError', 'runtime'],
  ['CreateContainerConfigError', 'user'],
]);

/** The node has no room, also not by preemption; every other refusal is about what the pod requests. */
function isFull(reason: string): boolean {
  return reason.startsWith('OutOf') || reason === 'UnexpectedAdmissionError';
}

export function actorOfFailure(subject: StepSubject, { reason, actor }: Pick<StepFailure, 'reason' | 'actor'>): Actor {
  if (actor !== undefined) return actor;
  if (subject.kind === 'admission') return isFull(reason) ? 'node' : 'user';
  return BY_REASON.get(reason) ?? actorOfStep(subject);
}

/** That an object can't be fetched is the user's, because it is missing or may not be read, unless the API server gave no answer. */
export function actorOfVolume({ stage, lastTry }: VolumeProgress): Actor {
  switch (stage) {
    case 'fetch-object':
      return lastTry === undefined || isUnanswered(lastTry) ? 'api-server' : 'user';
    case 'resolve':
      return 'user';
    case 'make':
    case 'permissions':
      return 'node';
    case 'attach':
    case 'mount-device':
    case 'mount':
    case 'ready':
      return 'volume';
  }
}

function isUnanswered({ code }: VolumeTry): boolean {
  return code === 'unavailable' || code === 'deadline';
}
