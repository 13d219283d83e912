/** The calls to one device plugin. Each has a deadline: a plugin that hangs holds up only those who need its devices. */
import type { Clock } from '../base/clock.ts';
import {
  type ContainerAllocateResponse,
  DevicePlugin,
  type DevicePluginOptions,
  type ListAndWatchResponse,
} from '../wire/gen/device-plugin-v1beta1.ts';
import { createGrpcClient } from '../wire/grpc-client.ts';

export interface Endpoint {
  readonly socket: string;
  options(signal: AbortSignal): Promise<DevicePluginOptions>;
  /** Resolves when the plugin ends the stream, rejects when it is lost. */
  listAndWatch(onList: (list: ListAndWatchResponse) => void, signal: AbortSignal): Promise<void>;
  preferred(request: PreferredRequest, signal: AbortSignal): Promise<readonly string[]>;
  /** Undefined: the plugin answered without a container. */
  allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerAllocateResponse | undefined>;
  preStart(ids: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface PreferredRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}

const CONNECT_MS = 10_000;
/** Other pods wait for the decision meanwhile. */
const PREFERRED_MS = 5_000;
/** Only the pod itself waits; a plugin may have to set a device up. */
const ALLOCATE_MS = 120_000;
const PRE_START_MS = 30_000;
/** A list of 100,000 devices with long names. */
const LARGEST_MESSAGE = 64 * 1024 * 1024;

export function createEndpoint(socket: string, clock: Clock): Endpoint {
  const client = createGrpcClient({ endpoint: socket, clock, maxMessageBytes: LARGEST_MESSAGE });
  return {
    socket,
    options: (signal) => client.unary(DevicePlugin.getDevicePluginOptions, {}, { signal, deadline: CONNECT_MS }),
    listAndWatch: (onMessage, signal) => client.serverStream(DevicePlugin.listAndWatch, {}, { signal, onMessage }),
    preferred: async ({ available, mustInclude, size }, signal) => {
      const request = {
        containerRequests: [{ availableDeviceIDs: available, mustIncludeDeviceIDs: mustInclude, allocationSize: size }],
      };
      const options = { signal, deadline: PREFERRED_MS };
      const { containerResponses } = await client.unary(DevicePlugin.getPreferredAllocation, request, options);
      return containerResponses[0]?.deviceIDs ?? [];
    },
    allocate: async (ids, signal) => {
      const request = { containerRequests: [{ devicesIds: ids }] };
      const options = { signal, deadline: ALLOCATE_MS };
      const { containerResponses } = await client.unary(DevicePlugin.allocate, request, options);
      return containerResponses[0];
    },
    preStart: async (ids, signal) => {
      await client.unary(DevicePlugin.preStartContainer, { devicesIds: ids }, { signal, deadline: PRE_START_MS });
    },
    close: client.close,
  };
}
