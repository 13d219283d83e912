/** A pod by name and UID: all that is known of some that only the node has. */
import type { PodUid } from '../api/ids.ts';

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

/** A pod of which the runtime says that something runs. */
export interface RunningPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** What is on the node, whoever put it there. */
export interface FoundPod extends PodIdentity {
  /** It has a ready sandbox or a running container. */
  readonly alive: boolean;
}
