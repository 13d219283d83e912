/** The requests to the container runtime for a pod: made by `runtime/`, sent by `act/`. */
import type { Container } from '../api/container.ts';
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { ContainerConfig, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import type { ReadyImage } from './image.ts';
import type { MountedVolumes } from './mounted-volume.ts';
import type { Actor } from './step.ts';

/** A problem is one of the pod, not of the machine. */
export type SandboxRequest =
  | {
      readonly kind: 'ready';
      readonly config: Init<PodSandboxConfig>;
      readonly runtimeHandler: string;
      readonly warnings: readonly { readonly reason: string; readonly message: string }[];
    }
  | { readonly kind: 'problem'; readonly message: string };

export interface ContainerRequestInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly attempt: number;
  readonly image: ReadyImage;
  readonly podIps: readonly string[];
  readonly podDirectory: string;
  readonly volumes: MountedVolumes;
  /** The runtime's names of the images that are mounted as volumes, by name of the volume. */
  readonly imageVolumes: ReadonlyMap<string, string>;
  readonly terminationLog: string | undefined;
  /** The running container whose processes an ephemeral one requests to see. */
  readonly targetId: ContainerId | undefined;
}

export type ContainerRequest =
  | { readonly kind: 'ready'; readonly config: Init<ContainerConfig> }
  /** `actor`: who has to act, where that is not the author of the pod. */
  | { readonly kind: 'problem'; readonly reason: string; readonly message: string; readonly actor?: Actor };
