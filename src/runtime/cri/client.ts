/**
 * The container runtime, over CRI v1: each call typed and with its own deadline. The connection is made when it is first
 * needed and made again when the runtime was away; calls fail with CodedErrors (`unavailable`, `deadline`, `notFound`…).
 *
 * Aborting `signal` cancels a call. Do that to pulls and execs; let create, start, stop and remove calls finish, since
 * the runtime may have done half of them.
 */
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import {
  CgroupDriver,
  type ContainerEventResponse,
  RuntimeService,
  type StatusResponse,
  type VersionResponse,
} from '../../wire/gen/cri-runtime-v1.ts';
import { type CallReport, createGrpcClient, type GrpcClient } from '../../wire/grpc-client.ts';
import { type ContainerdDownloads, createContainerdDownloads } from '../containerd-downloads.ts';
import { type ContainerdEvent, createContainerdEvents } from '../containerd-events.ts';
import { type CriContainers, createContainerCalls } from './containers.ts';
import { refineRuntimeError } from './errors.ts';
import { type CriImages, createImageCalls } from './images.ts';
import { type CriSandboxes, createSandboxCalls } from './sandboxes.ts';
import { type CriStats, createStatsCalls } from './stats.ts';
import { type CriStreams, createStreamCalls } from './streams.ts';
import { type CriTimeouts, DEFAULT_CRI_TIMEOUTS } from './timeouts.ts';

/** The calls about the runtime as a whole. */
export interface CriRuntime {
  version(signal: AbortSignal): Promise<VersionResponse>;
  /** `verbose` adds the runtime's own configuration as JSON under `info`. */
  status(options: { readonly verbose?: boolean }, signal: AbortSignal): Promise<StatusResponse>;
  /** Undefined where the runtime says nothing of it; `unsupported` where it lacks the call (containerd 1.x). */
  cgroupDriver(signal: AbortSignal): Promise<'systemd' | 'cgroupfs' | 'unsupported' | undefined>;
  setPodCidr(podCidr: string, signal: AbortSignal): Promise<void>;
  /**
   * Reads events until `signal` aborts or the stream ends. `onEvent` must not wait for anything: a stalled reader can
   * stall the runtime. Rejects with `unsupported` where the runtime has no such events (containerd 1.6).
   */
  watchEvents(onEvent: (event: ContainerEventResponse) => void, signal: AbortSignal): Promise<void>;
  /** The same from containerd's own event service, over the same connection: `containerd-events.ts`. */
  watchContainerdEvents(onEvent: (event: ContainerdEvent) => void, signal: AbortSignal): Promise<void>;
}

export interface CriClient extends CriRuntime {
  readonly sandboxes: CriSandboxes;
  readonly containers: CriContainers;
  /** Commands in containers, and the addresses of streams to them. */
  readonly streams: CriStreams;
  readonly images: CriImages;
  readonly stats: CriStats;
  /** How far pulls are, where the runtime is containerd. */
  readonly downloads: ContainerdDownloads;
  close(): Promise<void>;
}

export interface CriClientOptions {
  /** `unix:///run/containerd/containerd.sock` or the bare path. */
  readonly endpoint: string;
  /** Where images are served, if that is another program. */
  readonly imageEndpoint?: string | undefined;
  readonly clock: Clock;
  readonly timeouts?: CriTimeouts | undefined;
  /** Called after each call: for metrics. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
}

export function createCriClient(options: CriClientOptions): CriClient {
  const { endpoint, imageEndpoint = endpoint, clock, timeouts = DEFAULT_CRI_TIMEOUTS, onCall } = options;
  const runtime = createGrpcClient({ endpoint, clock, onCall, refine: refineRuntimeError });
  const images =
    imageEndpoint === endpoint
      ? runtime
      : createGrpcClient({ endpoint: imageEndpoint, clock, onCall, refine: refineRuntimeError });
  return {
    ...createRuntimeCalls(runtime, timeouts),
    sandboxes: createSandboxCalls(runtime, timeouts),
    containers: createContainerCalls(runtime, timeouts),
    streams: createStreamCalls(runtime, timeouts),
    images: createImageCalls(images, timeouts),
    stats: createStatsCalls(runtime, timeouts),
    downloads: createContainerdDownloads(images),
    close: async () => {
      await Promise.all([runtime.close(), images.close()]);
    },
  };
}

function createRuntimeCalls(grpc: GrpcClient, timeouts: CriTimeouts): CriRuntime {
  const { health, request: deadline } = timeouts;
  return {
    version: (signal) => grpc.unary(RuntimeService.version, {}, { signal, deadline: health }),
    status: ({ verbose = false }, signal) =>
      grpc.unary(RuntimeService.status, { verbose }, { signal, deadline: health }),
    cgroupDriver: async (signal) => {
      try {
        const { linux } = await grpc.unary(RuntimeService.runtimeConfig, {}, { signal, deadline });
        if (linux === undefined) return undefined;
        return linux.cgroupDriver === CgroupDriver.CGROUPFS ? 'cgroupfs' : 'systemd';
      } catch (error) {
        if (codeOf(error) === 'unsupported') return 'unsupported';
        throw error;
      }
    },
    setPodCidr: async (podCidr, signal) => {
      const request = { runtimeConfig: { networkConfig: { podCidr } } };
      await grpc.unary(RuntimeService.updateRuntimeConfig, request, { signal, deadline });
    },
    watchEvents: (onMessage, signal) => grpc.serverStream(RuntimeService.getContainerEvents, {}, { signal, onMessage }),
    watchContainerdEvents: createContainerdEvents(grpc).watch,
  };
}
