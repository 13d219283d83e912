/**
 * The devices of this node: plugins register and list them, containers get them. The record of who has what is on disk before a container is
 * created with it, so that the same container has the same devices after the kubelet was killed.
 */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import { decode } from '../wire/decode.ts';
import { encode } from '../wire/encode.ts';
import { ContainerAllocateResponse } from '../wire/gen/device-plugin-v1beta1.ts';
import { createAllocate } from './allocate.ts';
import { type AllocationTable, createAllocationTable, nodesById } from './allocation-table.ts';
import { createCheckpointFile } from './checkpoint-file.ts';
import { createEndpoint } from './endpoint.ts';
import { createProvider, type DeviceProvider, type ProviderTools } from './provider.ts';
import { createQuestions, type DeviceQuestions } from './questions.ts';
import {
  checkpointPath,
  createRegistrationServer,
  DEVICE_PLUGIN_VERSION,
  listen,
  nameFault,
} from './registration-server.ts';
import { createRegistry, type Registry } from './registry.ts';
import { type CheckpointEntry, encodeCheckpoint } from './rules/checkpoint.ts';

export interface Devices extends Part, DeviceQuestions {
  /** The provider of devices for the pass that assigns resources to pods. */
  readonly provider: DeviceProvider;
  /** For plugins that register through `plugins_registry`. */
  readonly handler: DevicePluginHandler;
  /** Why plugins can't register; undefined when all is well. */
  problem(): string | undefined;
}

export interface DevicePluginHandler {
  validate(name: string, versions: readonly string[]): string | undefined;
  register(name: string, socket: string): Promise<void>;
  deregister(name: string, socket: string): void;
}

export interface DevicesDeps extends Pick<ProviderTools, 'log' | 'numaNodes' | 'knownPods'> {
  readonly clock: Clock;
  readonly record: RecordNodeEvent;
  /** Devices have come or gone; `pods` are those that have a device of which the health is another now. */
  readonly onChange: (pods: readonly PodUid[]) => void;
  readonly onRegistration: (resource: string) => void;
  readonly onAllocated: (resource: string, seconds: number) => void;
}

export interface DevicesConfig {
  /** Where plugins find the kubelet, and have their own sockets. */
  readonly directory: string;
}

export function createDevices(deps: DevicesDeps, { directory }: DevicesConfig): Devices {
  const { clock, log } = deps;
  const table = createAllocationTable();
  const registry = createRegistry({
    clock,
    log,
    record: deps.record,
    connect: (socket) => createEndpoint(socket, clock),
    onChange: (resource, changed) => {
      save();
      const owners = changed.length === 0 ? new Map<string, PodUid>() : table.inUse(resource);
      deps.onChange([...new Set(changed.flatMap((id) => owners.get(id) ?? []))]);
    },
  });
  const file = createCheckpointFile(checkpointPath(directory), log, () => encodeState(table, registry));
  const save = (): void => {
    file.save().catch((error: unknown) => log.error('Failed to write checkpoint file', { err: error }));
  };
  const allocate = createAllocate({ ...deps, registry, table, mono: clock.mono });
  const server = createRegistrationServer({
    log,
    directory,
    register: registry.register,
    onRequest: deps.onRegistration,
  });
  const provider = createProvider({ ...deps, registry, table, allocate, file, save });
  let problem: string | undefined;

  return {
    name: 'devices',
    start: async () => {
      const checkpoint = await file.read();
      for (const entry of checkpoint?.entries ?? []) restore(entry, table, log);
      registry.restore(checkpoint?.registered ?? new Map());
      try {
        await listen(server, directory);
      } catch (error) {
        // Pods without devices run all the same.
        problem = `device plugin registration gRPC server failed and no device plugins can register: ${describeError(error)}`;
        log.error('Failed to listen to socket while starting device plugin registry', { err: error });
      }
    },
    stop: async () => {
      registry.stop();
      await server.close();
      await file.save().catch((error: unknown) => log.error('Failed to write checkpoint file', { err: error }));
    },
    problem: () => problem,
    provider,
    handler: {
      validate: (name, versions) => {
        if (!versions.includes(DEVICE_PLUGIN_VERSION))
          return `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(' ')}]`;
        const fault = nameFault(name);
        return fault === undefined ? undefined : `invalid name of device plugin socket: ${fault}`;
      },
      register: registry.register,
      deregister: registry.deregister,
    },
    ...createQuestions(registry, table),
  };
}

function restore(entry: CheckpointEntry, table: AllocationTable, log: Logger): void {
  const { podUid: uid, container, resource, devices } = entry;
  const ids = [...nodesById(devices).keys()];
  try {
    const response = decode(ContainerAllocateResponse, Buffer.from(entry.response, 'base64'));
    table.set({ uid: podUid(uid), container, resource, ids, byNode: devices, response });
  } catch (error) {
    log.error("Can't unmarshal allocResp", {
      podUID: uid,
      containerName: container,
      resourceName: resource,
      err: error,
    });
  }
}

function encodeState(table: AllocationTable, registry: Registry): string {
  const entries = table.all().flatMap(({ uid, container, resource, byNode, response }) => {
    if (response === undefined) return [];
    const answer = Buffer.from(encode(ContainerAllocateResponse, response)).toString('base64');
    return [{ podUid: uid, container, resource, devices: byNode, response: answer }];
  });
  return encodeCheckpoint({ entries, registered: registry.healthy() });
}
