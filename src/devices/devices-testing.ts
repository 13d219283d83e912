/** A device plugin in this process, and the devices of a kubelet with a directory of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { type Clock, createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import type { Assigned } from '../model/assignment.ts';
import type { NodeEvent } from '../model/event.ts';
import {
  type AllocateRequest,
  type ContainerAllocateResponse,
  DevicePlugin,
  type PreferredAllocationRequest,
  Registration,
} from '../wire/gen/device-plugin-v1beta1.ts';
import { createGrpcClient } from '../wire/grpc-client.ts';
import { createGrpcServer, streamHandler, unaryHandler } from '../wire/grpc-server.ts';
import type { Init } from '../wire/message.ts';
import { createDevices, type Devices } from './devices.ts';

export const never = new AbortController().signal;
export const RESOURCE = 'example.com/gpu';

export interface TestDevice {
  readonly id: string;
  readonly health?: string;
  readonly node?: number;
}

export interface TestPlugin {
  readonly allocated: readonly (readonly string[])[];
  readonly started: readonly (readonly string[])[];
  list(devices: readonly TestDevice[]): void;
  register(version?: string, resource?: string): Promise<void>;
  stop(): Promise<void>;
}

export interface PluginOptions {
  readonly name?: string;
  readonly resource?: string;
  readonly devices?: readonly TestDevice[];
  readonly preStart?: boolean;
  readonly preferred?: (request: PreferredAllocationRequest) => readonly string[];
  readonly allocate?: (
    request: AllocateRequest,
  ) => Promise<Init<ContainerAllocateResponse>> | Init<ContainerAllocateResponse>;
}

export async function startPlugin(ground: Ground, options: PluginOptions = {}): Promise<TestPlugin> {
  const { directory } = ground;
  const { name = 'plugin.sock', resource = RESOURCE, preStart = false, preferred } = options;
  const clock = createSystemClock();
  const allocated: (readonly string[])[] = [];
  const started: (readonly string[])[] = [];
  let devices = options.devices ?? [{ id: 'a' }, { id: 'b' }];
  let wake = Promise.withResolvers<void>();
  const server = createGrpcServer([
    unaryHandler(DevicePlugin.getDevicePluginOptions, () => ({
      preStartRequired: preStart,
      getPreferredAllocationAvailable: preferred !== undefined,
    })),
    streamHandler(DevicePlugin.listAndWatch, async (_request, send, { signal }) => {
      signal.addEventListener('abort', () => wake.resolve(), { once: true });
      const sendEach = async (): Promise<void> => {
        await send({ devices: devices.map(wireDevice) });
        await wake.promise;
        if (!signal.aborted) await sendEach();
      };
      await sendEach();
    }),
    unaryHandler(DevicePlugin.getPreferredAllocation, (request) => ({
      containerResponses: [{ deviceIDs: preferred?.(request) ?? [] }],
    })),
    unaryHandler(DevicePlugin.allocate, async (request) => {
      allocated.push(request.containerRequests[0]?.devicesIds ?? []);
      const response = options.allocate === undefined ? { envs: { GPU: '1' } } : await options.allocate(request);
      return { containerResponses: [response] };
    }),
    unaryHandler(DevicePlugin.preStartContainer, ({ devicesIds }) => {
      started.push(devicesIds);
      return {};
    }),
  ]);
  await server.listen(join(directory, name));
  let open = true;
  const stop = async () => {
    if (!open) return;
    open = false;
    await server.close();
  };
  ground.defer(stop);
  return {
    allocated,
    started,
    list: (next) => {
      devices = next;
      const before = wake;
      wake = Promise.withResolvers<void>();
      before.resolve();
    },
    register: async (version = 'v1beta1', resourceName = resource) => {
      const client = createGrpcClient({ endpoint: join(directory, 'kubelet.sock'), clock });
      try {
        await client.unary(
          Registration.register,
          { version, endpoint: name, resourceName },
          { signal: never, deadline: 60_000 },
        );
      } finally {
        await client.close();
      }
    },
    stop,
  };
}

const wireDevice = ({ id, health = 'Healthy', node }: TestDevice) => ({
  id,
  health,
  ...(node === undefined ? {} : { topology: { nodes: [{ id: node }] } }),
});

export interface TestDevices {
  readonly devices: Devices;
  readonly events: readonly NodeEvent[];
  readonly changedPods: readonly PodUid[];
  /** Waits until it is so; asked again at each change. */
  until(what: string, is: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

export async function startDevices(
  ground: Ground,
  { clock = createSystemClock(), knownPods }: { clock?: Clock; knownPods?: () => ReadonlySet<string> } = {},
): Promise<TestDevices> {
  const events: NodeEvent[] = [];
  const changedPods: PodUid[] = [];
  let changed = Promise.withResolvers<void>();
  const devices = createDevices(
    {
      clock,
      log: createSilentLogger(),
      record: (event) => events.push(event),
      numaNodes: [0, 1],
      knownPods: knownPods ?? (() => undefined),
      onChange: (pods) => {
        changedPods.push(...pods);
        changed.resolve();
        changed = Promise.withResolvers<void>();
      },
      onRegistration: () => undefined,
      onAllocated: () => undefined,
    },
    { directory: ground.directory },
  );
  await devices.start(never);
  let running = true;
  const stop = async () => {
    if (!running) return;
    running = false;
    await devices.stop?.();
  };
  ground.defer(stop);
  return {
    devices,
    events,
    changedPods,
    until: async (_what, is) => {
      while (!is()) await changed.promise;
    },
    stop,
  };
}

/** The directory of device plugins. What was started last ends first, and the directory goes last. */
export interface Ground {
  readonly directory: string;
  defer(end: () => Promise<void>): void;
}

export async function createGround(t: TestContext): Promise<Ground> {
  const directory = await mkdtemp(join(tmpdir(), 'dp-'));
  const ends = [() => rm(directory, { recursive: true, force: true })];
  t.after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  return { directory, defer: (end) => ends.push(end) };
}

export function podWith(uid: string, containers: Record<string, number>, init: Record<string, number> = {}): Pod {
  const make = ([name, amount]: [string, number]) => ({
    name,
    resources: { limits: { [RESOURCE]: String(amount) }, requests: { [RESOURCE]: String(amount) } },
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid, name: uid, namespace: 'default' },
    spec: { initContainers: Object.entries(init).map(make), containers: Object.entries(containers).map(make) },
  };
}

/** As the pass at admission does it. */
export async function assign({ provider }: Devices, pod: Pod): Promise<Assigned> {
  let assigned: Assigned = { kind: 'done' };
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers])
    if (assigned.kind === 'done') assigned = await provider.allocate({ pod, container, hint: undefined }, never);
  if (assigned.kind === 'done') assigned = await provider.complete(pod, never);
  if (assigned.kind === 'refused') provider.release(podUid(pod.metadata.uid));
  return assigned;
}
