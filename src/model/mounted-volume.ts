/** The volumes of a pod once they are mounted on the node, for the requests to the runtime. */
export interface MountedVolume {
  readonly hostPath: string;
  /** The volume itself can't be written, whatever the container requests. */
  readonly readOnly?: boolean;
  /** Its files get the label of the pod. */
  readonly selinuxRelabel?: boolean;
}

/** By name of the volume; those that the runtime mounts are missing. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

export type VolumesOutcome =
  | { readonly kind: 'ready'; readonly mounts: MountedVolumes }
  /** `message` is the event's. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string };
