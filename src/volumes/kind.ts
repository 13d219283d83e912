/**
 * What volumes.ts knows of a kind of volume. A kind makes one volume in the directory that it is given and removes it again; when that happens,
 * how often it is tried and what is reported about it is decided by the caller. Calls for one volume never overlap.
 */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';
import type { WorkStage } from './rules/volume-state.ts';

export interface VolumeRequest {
  readonly pod: Pod;
  readonly volume: Volume;
  /** `pods/UID/volumes/PLUGIN/NAME`; its parent exists, it itself may not. */
  readonly directory: string;
  /** The group that must own the files, from the pod's security context. */
  readonly fsGroup: number | undefined;
  /** Reports the stage that begins now: it is shown as what the pod waits for. */
  readonly enter: (stage: WorkStage) => void;
}

export interface VolumeReady {
  /** What is mounted into containers; undefined where the runtime mounts it without a path of the node. */
  readonly path: string | undefined;
  /** Wall-clock ms at which `setUp` must be called again although nothing changed (a token before it expires). */
  readonly refreshAt?: number;
  /** Containers may not write it, whatever they ask for. */
  readonly readOnly?: boolean;
  /** Its files get the SELinux label of the pod where the node has SELinux. */
  readonly selinuxRelabel?: boolean;
  /** It is on a mount that may hang: it is made again before each start, so that the runtime gets no path that hangs. */
  readonly foreign?: boolean;
}

/** The answers that are expected. What `setUp` throws is a failure of the machine or of the API server. */
export type SetUpAnswer = { readonly kind: 'ready'; readonly ready: VolumeReady } | NotReady;

export type NotReady =
  /** Something else has to happen first: an object must be created, a device attached. */
  | { readonly kind: 'waiting'; readonly message: string }
  /** The pod asks for something that does not exist or is not allowed. */
  | { readonly kind: 'invalid'; readonly message: string };

export const ready = (volume: VolumeReady): SetUpAnswer => ({ kind: 'ready', ready: volume });
export const waiting = (message: string): NotReady => ({ kind: 'waiting', message });
export const invalid = (message: string): NotReady => ({ kind: 'invalid', message });

/** A volume on disk of which the pod may be unknown: after a restart this is all that is known. */
export interface VolumeLeft {
  readonly uid: PodUid;
  readonly name: string;
  readonly directory: string;
}

export interface ObjectReference {
  readonly kind: 'configMap' | 'secret' | 'clusterTrustBundle' | 'podCertificate';
  readonly namespace: string;
  /** Empty: any of this kind in the namespace. Of a pod certificate: the pod's. */
  readonly name: string;
}

export interface VolumeKind {
  /** `kubernetes.io/secret`: its directory is `pods/UID/volumes/kubernetes.io~secret/NAME`. */
  readonly plugin: string;
  /** The pod names this kind itself. What a claim stands for is found by a resolver (resolve.ts). */
  handles(volume: Volume): boolean;
  /** Begins to fetch what `setUp` will need, before there is a directory. A failure is found again and reported by `setUp`. */
  prefetch?(pod: Pod, volume: Volume, signal: AbortSignal): void;
  /** Idempotent: called again after restarts, on changes of what it depends on and at `refreshAt`. */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<SetUpAnswer>;
  /** Removes what `setUp` made, also where only a part of it exists. */
  tearDown(left: VolumeLeft, signal: AbortSignal): Promise<void>;
  /** `setUp` is called again for running pods when one of these changes. */
  dependsOn?(pod: Pod, volume: Volume): readonly ObjectReference[];
  /** The files show the pod itself (labels, annotations): `setUp` is called again when the pod changes. */
  readonly dependsOnPod?: boolean;
  /** The volume is on a file system that may hang: it is measured and removed only in a process that can be killed. */
  readonly foreign?: boolean;
  /** Volumes that are first attached to the node, by the controller or (`enableControllerAttachDetach: false`) by the kubelet. */
  readonly attachment?: VolumeAttachment;
  /** Volumes with a mount of the whole device that all pods of the node share, before that of each pod. */
  readonly staging?: VolumeStaging;
}

export interface VolumeAttachment {
  /** As in `status.volumesInUse` and `status.volumesAttached`. */
  uniqueName(request: Pick<VolumeRequest, 'pod' | 'volume'>, signal: AbortSignal): Promise<string>;
  /** Only where the kubelet attaches by itself. Resolves with the path of the device. */
  attach(uniqueName: string, request: VolumeRequest, signal: AbortSignal): Promise<string>;
  detach(uniqueName: string, signal: AbortSignal): Promise<void>;
}

export interface VolumeStaging {
  stage(uniqueName: string, devicePath: string, request: VolumeRequest, signal: AbortSignal): Promise<void>;
  /** Called when the last pod of the node no longer uses it. */
  unstage(uniqueName: string, signal: AbortSignal): Promise<void>;
}

/** The directories that kinds write into: on the kubelet's disk, or in memory (a tmpfs, without swap where the kernel supports that). */
export interface VolumeDirectories {
  /** Makes the directory with mode 0777, mounts the tmpfs where it is missing; changes nothing where all of it exists. */
  ensure(
    dir: {
      readonly directory: string;
      readonly medium: 'disk' | 'memory';
      readonly sizeBytes?: number;
      readonly enter?: VolumeRequest['enter'];
    },
    signal: AbortSignal,
  ): Promise<void>;
  /** Unmounts and removes it, never across a mount point below it. */
  remove(directory: string, signal: AbortSignal): Promise<void>;
}
