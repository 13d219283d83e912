/** How far a volume of a pod is, and what it waits for: shown to the user as the reason why a pod does not start. */
import type { ErrorCode } from '../base/errors.ts';

/**
 * In this order; a volume skips those that it does not need.
 * - `resolve`: find out what the pod's volume stands for (the volume behind a claim)
 * - `attach`: its device is attached to this node
 * - `mount-device`: its device is mounted once for all pods of the node
 * - `fetch-object`: get the objects that it shows from the API server
 * - `make`: create its directory and write its files
 * - `mount`: mount it for the pod
 * - `permissions`: give its files to the pod's group
 */
export type VolumeStage =
  | 'resolve'
  | 'attach'
  | 'mount-device'
  | 'fetch-object'
  | 'make'
  | 'mount'
  | 'permissions'
  | 'ready';

export interface VolumeProgress {
  /** As in the pod's spec. */
  readonly name: string;
  /** `kubernetes.io/secret`; undefined until it is resolved. */
  readonly plugin: string | undefined;
  readonly stage: VolumeStage;
  /** When it came to this stage; tries that failed at the same stage don't change it. Wall clock, ms. */
  readonly since: number;
  /** Containers can use it: it is ready, or it was and only an update of it fails. */
  readonly usable: boolean;
  /** The last try, where it did not succeed; undefined after a success. */
  readonly lastTry: VolumeTry | undefined;
  /** Wall clock, ms; undefined: a try is under way or due now, or none is needed. */
  readonly nextTryAt: number | undefined;
}

export interface VolumeTry {
  /** `waiting`: something else has to happen first, such as the attachment of its device. `failed`: an error. */
  readonly outcome: 'waiting' | 'failed';
  readonly message: string;
  /** What kind of error it was; undefined for one that waits. */
  readonly code: ErrorCode | undefined;
  /** How many in a row. */
  readonly count: number;
  /** Wall clock, ms. */
  readonly at: number;
}
