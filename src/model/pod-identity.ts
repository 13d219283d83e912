/** A pod by name and UID: all that is known of a pod that only the node has. */
import type { PodUid } from '../api/ids.ts';

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

/** A pod of which something runs, by the runtime's list. */
export interface RunningPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** A pod of which something is on the node, including what other kubelets left there. */
export interface FoundPod extends PodIdentity {
  /** It has a ready sandbox or a running container. */
  readonly alive: boolean;
}
