/** Finds pods by name and their running containers, for exec, attach, port-forward, run, logs and checkpoint. */
import type { ContainerId, PodUid, SandboxId } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import type { PodStatus } from '../../api/pod-status.ts';

export interface ServedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  /** The UID at the API server if it is another one: that of the mirror of a static pod. */
  readonly mirrorUid?: string | undefined;
  /** Its published status; undefined before the first one. */
  readonly status: PodStatus | undefined;
}

export interface ServedPods {
  find(namespace: string, name: string): ServedPod | undefined;
  /** Read from the runtime now. */
  runningContainer(uid: PodUid, name: string, signal: AbortSignal): Promise<ContainerId | undefined>;
  /** The newest ready sandbox, read from the runtime now. */
  readySandbox(uid: PodUid, signal: AbortSignal): Promise<SandboxId | undefined>;
}

/** A UID in the path must be that of the current pod of the name: the intended one may be gone. */
export function isMeant({ uid, mirrorUid }: ServedPod, requested: string | undefined): boolean {
  return requested === undefined || requested === uid || requested === mirrorUid;
}

/** `name_namespace`, as in the messages of the reference. */
export function fullName({ pod: { metadata } }: ServedPod): string {
  return `${metadata.name}_${metadata.namespace}`;
}
