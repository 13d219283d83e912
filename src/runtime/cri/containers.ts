import {
  type Container,
  type ContainerConfig,
  type ContainerFilter,
  type ContainerStatusResponse,
  type LinuxContainerResources,
  type PodSandboxConfig,
  RuntimeService,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { GrpcClient } from '../../wire/grpc-client.ts';
import type { Init } from '../../wire/message.ts';
import { undefinedIfGone } from './gone.ts';
import { type CriTimeouts, checkpointDeadline, stopContainerDeadline } from './timeouts.ts';

export interface CriContainers {
  /** Returns the id of the new container, which doesn't run yet. */
  create(request: NewContainer, signal: AbortSignal): Promise<string>;
  start(containerId: string, signal: AbortSignal): Promise<void>;
  /** Signals, waits `graceSeconds`, kills. One that is stopped or gone already is fine. */
  stop(containerId: string, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** Kills it first if it runs. One that is gone already is fine. */
  remove(containerId: string, signal: AbortSignal): Promise<void>;
  /** Undefined if there is none with this id. */
  status(
    containerId: string,
    options: { readonly verbose?: boolean },
    signal: AbortSignal,
  ): Promise<ContainerStatusResponse | undefined>;
  list(filter: Init<ContainerFilter> | undefined, signal: AbortSignal): Promise<readonly Container[]>;
  updateResources(containerId: string, linux: Init<LinuxContainerResources>, signal: AbortSignal): Promise<void>;
  /** After its log file was moved away. */
  reopenLog(containerId: string, signal: AbortSignal): Promise<void>;
  /** `timeoutSeconds` 0 leaves the limit to the runtime. */
  checkpoint(
    request: { readonly containerId: string; readonly location: string; readonly timeoutSeconds: number },
    signal: AbortSignal,
  ): Promise<void>;
}

export interface NewContainer {
  readonly podSandboxId: string;
  readonly config: Init<ContainerConfig>;
  /** The one that the sandbox was made with. */
  readonly sandboxConfig: Init<PodSandboxConfig>;
}

export function createContainerCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriContainers {
  const deadline = timeouts.request;
  return {
    create: async (request, signal) =>
      (await grpc.unary(RuntimeService.createContainer, request, { signal, deadline })).containerId,
    start: async (containerId, signal) => {
      await grpc.unary(RuntimeService.startContainer, { containerId }, { signal, deadline });
    },
    stop: async (containerId, graceSeconds, signal) => {
      const limits = { signal, deadline: stopContainerDeadline(timeouts, graceSeconds) };
      await undefinedIfGone(grpc.unary(RuntimeService.stopContainer, { containerId, timeout: graceSeconds }, limits));
    },
    remove: async (containerId, signal) => {
      await undefinedIfGone(grpc.unary(RuntimeService.removeContainer, { containerId }, { signal, deadline }));
    },
    status: (containerId, { verbose = false }, signal) =>
      undefinedIfGone(grpc.unary(RuntimeService.containerStatus, { containerId, verbose }, { signal, deadline })),
    list: async (filter, signal) =>
      (await grpc.unary(RuntimeService.listContainers, { filter }, { signal, deadline })).containers,
    updateResources: async (containerId, linux, signal) => {
      await grpc.unary(RuntimeService.updateContainerResources, { containerId, linux }, { signal, deadline });
    },
    reopenLog: async (containerId, signal) => {
      await grpc.unary(RuntimeService.reopenContainerLog, { containerId }, { signal, deadline });
    },
    checkpoint: async ({ containerId, location, timeoutSeconds }, signal) => {
      const limits = { signal, deadline: checkpointDeadline(timeouts, timeoutSeconds) };
      await grpc.unary(RuntimeService.checkpointContainer, { containerId, location, timeout: timeoutSeconds }, limits);
    },
  };
}
