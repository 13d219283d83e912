/**
 * What the manager of volumes knows of a kind of volume. A kind makes one volume true in the directory that it is given and takes it
 * away again; when that happens, how often it is tried and what is told of it is the manager's. Calls for one volume never overlap.
 */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Volume } from '../api/volume.ts';

export interface VolumeRequest {
  readonly pod: Pod;
  readonly volume: Volume;
  /** `pods/UID/volumes/PLUGIN/NAME`; its parent is there, it itself may not be. */
  readonly directory: string;
  /** The group that must own the files, from the pod's security context. */
  readonly fsGroup: number | undefined;
}

export interface VolumeReady {
  /** What is mounted into containers; undefined where the runtime mounts it without a path of the node. */
  readonly path: string | undefined;
  /** Wall-clock ms at which `setUp` must be asked again although nothing changed (a token before it expires). */
  readonly refreshAt?: number;
  /** Containers may not write it, whatever they ask for. */
  readonly readOnly?: boolean;
  /** Its files take the label of the pod where the node has SELinux. */
  readonly selinuxRelabel?: boolean;
  /** It is on a mount that may hang: it is made again before each start, so that the runtime is not asked for what hangs. */
  readonly foreign?: boolean;
  /** What `status.volumesInUse` calls it; only kinds that are attached to nodes have such a name. */
  readonly uniqueName?: string;
}

/** A volume on disk of which the pod may be unknown: after a restart this is all that there is. */
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
  handles(volume: Volume): boolean;
  /** Begins to fetch from elsewhere what `setUp` is soon to need, before there is a directory. That this fails is for `setUp` to find out. */
  foresee?(pod: Pod, volume: Volume, signal: AbortSignal): void;
  /** Idempotent: asked again after restarts, on changes of what it depends on and at `refreshAt`. */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<VolumeReady>;
  /** Takes away what `setUp` made, also where only half of it is there. */
  tearDown(left: VolumeLeft, signal: AbortSignal): Promise<void>;
  /** `setUp` is asked again for running pods when one of these changes. */
  dependsOn?(pod: Pod, volume: Volume): readonly ObjectReference[];
  /** The pod itself shows in the files (labels, annotations): `setUp` is asked again when the pod changes. */
  readonly dependsOnPod?: boolean;
  /** The volume lives on a file system that may hang: it is measured and removed only in a process that can be killed. */
  readonly foreign?: boolean;
  /** Volumes that are first attached to the node, by the controller or (`enableControllerAttachDetach: false`) from here. */
  readonly attachment?: VolumeAttachment;
  /** Volumes with a mount of the whole device that all pods of the node share, before that of each pod. */
  readonly staging?: VolumeStaging;
}

export interface VolumeAttachment {
  /** As in `status.volumesInUse` and `status.volumesAttached`. */
  uniqueName(request: Omit<VolumeRequest, 'directory' | 'fsGroup'>, signal: AbortSignal): Promise<string>;
  /** Only where the kubelet attaches by itself. Resolves with the path of the device. */
  attach(uniqueName: string, request: VolumeRequest, signal: AbortSignal): Promise<string>;
  detach(uniqueName: string, signal: AbortSignal): Promise<void>;
}

export interface VolumeStaging {
  stage(uniqueName: string, devicePath: string, request: VolumeRequest, signal: AbortSignal): Promise<void>;
  /** Asked when the last pod of the node has let go of it. */
  unstage(uniqueName: string, signal: AbortSignal): Promise<void>;
}

/** The directories that kinds write into: on the kubelet's disk, or in memory (a tmpfs, without swap where the kernel can). */
export interface VolumeDirectories {
  /** Makes the directory with mode 0777, mounts the tmpfs where it is missing; changes nothing where all is there. */
  ensure(
    dir: { readonly directory: string; readonly medium: 'disk' | 'memory'; readonly sizeBytes?: number },
    signal: AbortSignal,
  ): Promise<void>;
  /** Unmounts and removes it, never across a mount point below it. */
  remove(directory: string, signal: AbortSignal): Promise<void>;
}
