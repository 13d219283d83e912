/** Every pod of which something is on the node: in the runtime, or only a directory, a cgroup or logs. */
import { podUid } from '../api/ids.ts';
import type { FoundPod } from '../model/pod-identity.ts';

export interface ListNodeDeps {
  readonly listRuntime: (signal: AbortSignal) => Promise<readonly FoundPod[]>;
  /** UIDs of pods. */
  readonly listDirectories: () => Promise<readonly string[]>;
  readonly listCgroups: () => Promise<readonly string[]>;
  readonly listLogs: () => Promise<
    readonly { readonly uid: string; readonly name: string; readonly namespace: string }[]
  >;
}

export async function listNode(deps: ListNodeDeps, signal: AbortSignal): Promise<readonly FoundPod[]> {
  const listed = await deps.listRuntime(signal);
  const nameless = [...(await deps.listDirectories()), ...(await deps.listCgroups())];
  const left = [...nameless.map((uid) => ({ uid, name: '', namespace: '' })), ...(await deps.listLogs())];
  const found = new Map(left.map((pod) => [pod.uid, { ...pod, uid: podUid(pod.uid), alive: false }]));
  for (const pod of listed) found.set(pod.uid, pod);
  return [...found.values()];
}
