/** The pods that can be asked for by name, and what runs of them: what exec, attach, port-forward, run, logs and checkpoint begin with. */
import type { ContainerId, PodUid, SandboxId } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { PodStatus } from '../../api/pod-status.ts';

export interface ServedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** Under which the API server knows it, where that is another one: the mirror of a static pod. */
  readonly mirrorUid?: string | undefined;
  /** As others see it; undefined before the first one was computed. */
  readonly status: PodStatus | undefined;
}

export interface ServedPods {
  find(namespace: string, name: string): ServedPod | undefined;
  /** As the runtime says now. */
  runningContainer(uid: PodUid, name: string, signal: AbortSignal): Promise<ContainerId | undefined>;
  /** The newest sandbox that is ready, as the runtime says now. */
  readySandbox(uid: PodUid, signal: AbortSignal): Promise<SandboxId | undefined>;
}

/** A UID in the path must be that of the pod that has the name now: the one that was meant may be gone. */
export function isMeant({ uid, mirrorUid }: ServedPod, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === uid || wanted === mirrorUid;
}

/** `name_namespace`, as messages name a pod here. */
export function fullName({ pod: { metadata } }: ServedPod): string {
  return `${metadata.name}_${metadata.namespace}`;
}
