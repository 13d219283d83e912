import {
  type ContainerStats,
  type ContainerStatsFilter,
  type MetricDescriptor,
  type PodSandboxMetrics,
  type PodSandboxStats,
  type PodSandboxStatsFilter,
  RuntimeService,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { GrpcClient } from '../../wire/grpc-client.ts';
import type { Init } from '../../wire/message.ts';
import { undefinedIfGone } from './gone.ts';
import type { CriTimeouts } from './timeouts.ts';

export interface CriStats {
  /** Undefined if there is no container with this id. */
  container(containerId: string, signal: AbortSignal): Promise<ContainerStats | undefined>;
  containers(filter: Init<ContainerStatsFilter> | undefined, signal: AbortSignal): Promise<readonly ContainerStats[]>;
  /** Undefined if there is no sandbox with this id. */
  sandbox(podSandboxId: string, signal: AbortSignal): Promise<PodSandboxStats | undefined>;
  sandboxes(filter: Init<PodSandboxStatsFilter> | undefined, signal: AbortSignal): Promise<readonly PodSandboxStats[]>;
  metricDescriptors(signal: AbortSignal): Promise<readonly MetricDescriptor[]>;
  sandboxMetrics(signal: AbortSignal): Promise<readonly PodSandboxMetrics[]>;
}

export function createStatsCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriStats {
  const deadline = timeouts.request;
  return {
    container: async (containerId, signal) =>
      (await undefinedIfGone(grpc.unary(RuntimeService.containerStats, { containerId }, { signal, deadline })))?.stats,
    containers: async (filter, signal) =>
      (await grpc.unary(RuntimeService.listContainerStats, { filter }, { signal, deadline })).stats,
    sandbox: async (podSandboxId, signal) =>
      (await undefinedIfGone(grpc.unary(RuntimeService.podSandboxStats, { podSandboxId }, { signal, deadline })))
        ?.stats,
    sandboxes: async (filter, signal) =>
      (await grpc.unary(RuntimeService.listPodSandboxStats, { filter }, { signal, deadline })).stats,
    metricDescriptors: async (signal) =>
      (await grpc.unary(RuntimeService.listMetricDescriptors, {}, { signal, deadline })).descriptors,
    sandboxMetrics: async (signal) =>
      (await grpc.unary(RuntimeService.listPodSandboxMetrics, {}, { signal, deadline })).podMetrics,
  };
}
