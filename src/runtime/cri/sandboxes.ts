import {
  type LinuxContainerResources,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type PodSandboxStatusResponse,
  RuntimeService,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { GrpcClient } from '../../wire/grpc-client.ts';
import type { Init } from '../../wire/message.ts';
import { undefinedIfGone } from './gone.ts';
import { type CriTimeouts, runSandboxDeadline } from './timeouts.ts';

export interface CriSandboxes {
  /** Returns the id of the new sandbox, which runs. */
  run(
    request: { readonly config: Init<PodSandboxConfig>; readonly runtimeHandler?: string },
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends its containers and its network. One that is stopped or gone already is fine. */
  stop(podSandboxId: string, signal: AbortSignal): Promise<void>;
  /** One that is gone already is fine. */
  remove(podSandboxId: string, signal: AbortSignal): Promise<void>;
  /** Undefined if there is none with this id. */
  status(
    podSandboxId: string,
    options: { readonly verbose?: boolean },
    signal: AbortSignal,
  ): Promise<PodSandboxStatusResponse | undefined>;
  list(filter: Init<PodSandboxFilter> | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]>;
  updateResources(request: SandboxResources, signal: AbortSignal): Promise<void>;
}

export interface SandboxResources {
  readonly podSandboxId: string;
  readonly overhead?: Init<LinuxContainerResources> | undefined;
  readonly resources?: Init<LinuxContainerResources> | undefined;
}

export function createSandboxCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriSandboxes {
  const deadline = timeouts.request;
  return {
    run: async (request, signal) => {
      const limits = { signal, deadline: runSandboxDeadline(timeouts) };
      return (await grpc.unary(RuntimeService.runPodSandbox, request, limits)).podSandboxId;
    },
    stop: async (podSandboxId, signal) => {
      await undefinedIfGone(grpc.unary(RuntimeService.stopPodSandbox, { podSandboxId }, { signal, deadline }));
    },
    remove: async (podSandboxId, signal) => {
      await undefinedIfGone(grpc.unary(RuntimeService.removePodSandbox, { podSandboxId }, { signal, deadline }));
    },
    status: (podSandboxId, { verbose = false }, signal) =>
      undefinedIfGone(grpc.unary(RuntimeService.podSandboxStatus, { podSandboxId, verbose }, { signal, deadline })),
    list: async (filter, signal) =>
      (await grpc.unary(RuntimeService.listPodSandbox, { filter }, { signal, deadline })).items,
    updateResources: async (request, signal) => {
      await grpc.unary(RuntimeService.updatePodSandboxResources, request, { signal, deadline });
    },
  };
}
