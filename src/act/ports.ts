/** What actions need of other parts: each port has only what is used here. */

import type { Container } from '../api/container.ts';
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Hook } from '../model/hook.ts';
import type { ImageAnswer, PullPolicy } from '../model/image.ts';
import type { VolumesOutcome } from '../model/mounted-volume.ts';
import type { ContainerRequest, ContainerRequestInput, SandboxRequest } from '../model/runtime-request.ts';
import type { ContainerConfig, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';

export interface RuntimePort {
  readonly sandboxes: {
    run(
      request: { readonly config: Init<PodSandboxConfig>; readonly runtimeHandler: string },
      signal: AbortSignal,
    ): Promise<string>;
    stop(id: string, signal: AbortSignal): Promise<void>;
    remove(id: string, signal: AbortSignal): Promise<void>;
  };
  readonly containers: {
    create(request: NewContainer, signal: AbortSignal): Promise<string>;
    start(id: string, signal: AbortSignal): Promise<void>;
    stop(id: string, graceSeconds: number, signal: AbortSignal): Promise<void>;
    remove(id: string, signal: AbortSignal): Promise<void>;
  };
}

interface NewContainer {
  readonly podSandboxId: string;
  readonly config: Init<ContainerConfig>;
  readonly sandboxConfig: Init<PodSandboxConfig>;
}

/** From a pod to the runtime's requests. A problem is one of the pod, not of the machine. */
export interface RequestsPort {
  sandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<SandboxRequest>;
  container(input: ContainerRequestInput, signal: AbortSignal): Promise<ContainerRequest>;
  hostsFile(pod: Pod, podIps: readonly string[]): Promise<{ ok: true; value: string } | { ok: false; problem: string }>;
}

export interface ImagesPort {
  /** Rejects with the signal's reason as soon as it aborts. */
  ensure(asked: {
    readonly pod: Pod;
    readonly container: Container;
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
  /** For an image that is mounted as a volume. */
  ensureVolume(asked: {
    readonly pod: Pod;
    readonly image: string;
    readonly policy: PullPolicy;
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
}

export interface HooksPort {
  /** Undefined when it succeeded, otherwise why it failed. Rejects with the signal's reason as soon as it aborts. */
  run(hook: Hook, signal: AbortSignal): Promise<string | undefined>;
}

export interface CgroupsPort {
  ensure(pod: Pod): Promise<void>;
  remove(uid: PodUid): Promise<void>;
}

export interface VolumesPort {
  /** Begins to fetch what the volumes will need, while other things are made. */
  prefetch(pod: Pod, signal: AbortSignal): void;
  ensure(pod: Pod, signal: AbortSignal): Promise<VolumesOutcome>;
  cleanUp(uid: PodUid, signal: AbortSignal): Promise<void>;
}

export interface LogsPort {
  ensurePod(pod: Pod): Promise<void>;
  ensureContainer(pod: Pod, name: string): Promise<void>;
  /** Makes the link by which log shippers find the file. */
  link(pod: Pod, name: string, id: ContainerId, attempt: number): Promise<void>;
  /** Removes the files and the link of a container that is removed. */
  removeContainer(
    pod: { readonly uid: string; readonly name: string; readonly namespace: string },
    container: { readonly id: ContainerId; readonly name: string; readonly logPath: string },
  ): Promise<void>;
  removePod(pod: { readonly uid: string; readonly name: string; readonly namespace: string }): Promise<void>;
}

/** A turn among the pods that start something now. It is held from one action to the next, so that a pod that has begun to start gets done. */
export interface Turn {
  /** Waits for it, unless it is held already. */
  hold(): Promise<void>;
  /** Passes it on to others; does nothing if it isn't held. */
  release(): void;
  /** A pause, while an image is pulled: the moment to publish how far the pod is. */
  pause?(): void;
}
