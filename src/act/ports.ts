/** What actions need of other parts: each port has only what is used here. */

import type { Container } from '../api/container.ts';
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Hook } from '../model/hook.ts';
import type { ImageAnswer, PullPolicy } from '../model/image.ts';
import type { VolumesOutcome } from '../model/mounted-volume.ts';
import type { ContainerRequest, ContainerRequestInput, SandboxRequest } from '../model/runtime-request.ts';
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';

export interface RuntimePort {
  readonly sandboxes: {
    run(
      request: { readonly config: Init<PodSandboxConfig>; readonly runtimeHandler: string },
      signal: AbortSignal,
    ): Promise<string>;
    stop(id: string, signal: AbortSignal): Promise<void>;
    remove(id: string, signal: AbortSignal): Promise<void>;
    updateResources(request: { readonly podSandboxId: string } & SandboxResources, signal: AbortSignal): Promise<void>;
  };
  readonly containers: {
    create(request: NewContainer, signal: AbortSignal): Promise<string>;
    start(id: string, signal: AbortSignal): Promise<void>;
    stop(id: string, graceSeconds: number, signal: AbortSignal): Promise<void>;
    remove(id: string, signal: AbortSignal): Promise<void>;
    updateResources(id: string, resources: Init<LinuxContainerResources>, signal: AbortSignal): Promise<void>;
  };
}

interface SandboxResources {
  readonly overhead?: Init<LinuxContainerResources>;
  readonly resources?: Init<LinuxContainerResources>;
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
  /** What a container that runs is limited to. */
  containerResources(pod: Pod, container: Container): Init<LinuxContainerResources>;
  sandboxResources(pod: Pod): SandboxResources;
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

/** The limits of a pod that runs. */
export interface LimitsPort {
  /** How its cgroup gets the limits of this pod. */
  planPodResize(pod: Pod): {
    /** Undefined: nothing grows. */
    readonly grow: (() => Promise<void>) | undefined;
    readonly shrink: (() => Promise<void>) | undefined;
    /** Bytes; set where the memory of the pod is limited to less than before. */
    readonly shrinksTo: bigint | undefined;
  };
  /** Bytes that the pod uses, or one of its containers; undefined where the kernel doesn't say. */
  memoryUsage(pod: Pod, container?: string): Promise<bigint | undefined>;
}

/** The record of the resources that are in force. Each call resolves when it is on disk. */
export interface InForcePort {
  /** The limits of the pod and of these containers are being changed: what is in force is not known until `done`. */
  begin(pod: Pod, containers: readonly string[]): Promise<void>;
  done(pod: Pod, containers: readonly string[]): Promise<void>;
  /** The container is going to be created with its resources of this pod. */
  starting(pod: Pod, container: Container): Promise<void>;
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
