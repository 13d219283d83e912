/**
 * The device plugins that have registered, and the devices that each has listed.
 *
 *   known from the checkpoint ──► away ──registers──► connected ──lists──► listed ──stream ends──► away
 *                                  └──5 minutes──► forgotten: the node reports 0 of the resource
 */
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { DevicePluginOptions, ListAndWatchResponse } from '../wire/gen/device-plugin-v1beta1.ts';
import type { Endpoint } from './endpoint.ts';
import { allUnhealthy, changedHealth, healthyIds, type Inventory, inventoryOf, NO_DEVICES } from './rules/inventory.ts';

export interface Registry {
  /** What an earlier kubelet had: its plugins have to register again. */
  restore(resources: ReadonlyMap<string, readonly string[]>): void;
  /** Connects to the plugin; a plugin that served the resource before is replaced. Rejects where it can't be talked to. */
  register(resource: string, socket: string): Promise<void>;
  deregister(resource: string, socket: string): void;
  has(resource: string): boolean;
  inventory(resource: string): Inventory;
  /** Undefined while no plugin serves the resource. */
  plugin(resource: string): ServingPlugin | undefined;
  /** Until when it is worth waiting for devices of this resource, wall clock; undefined: it is not. */
  lateUntil(resource: string): number | undefined;
  /** By resource: how many devices there are, and how many can be used. */
  counts(): ReadonlyMap<string, DeviceCounts>;
  /** The ids of healthy devices, by resource, for the checkpoint; of a plugin that is away, those that it had. */
  healthy(): ReadonlyMap<string, readonly string[]>;
  stop(): void;
}

export interface ServingPlugin {
  readonly endpoint: Endpoint;
  readonly options: DevicePluginOptions;
}

export interface DeviceCounts {
  readonly capacity: number;
  readonly allocatable: number;
  /** What the resource had before its plugin went away, while it may come back. */
  readonly expected: number;
}

export interface RegistryDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly connect: (socket: string) => Endpoint;
  readonly record: RecordNodeEvent;
  /** Devices have come or gone; `changed` are those of which the health is another now. */
  readonly onChange: (resource: string, changed: readonly string[]) => void;
}

interface Resource {
  inventory: Inventory;
  /** The ids of those that were healthy when a plugin last served them. */
  lastHealthy: readonly string[];
  /** Undefined while it is away. */
  plugin: (ServingPlugin & { readonly link: LinkedSignal }) | undefined;
  /** Has the plugin listed its devices since it registered? */
  listed: boolean;
  /** Since when it is away, or has not listed anything; wall clock. */
  since: number;
}

/** The node goes on to report a resource for so long after its plugin has gone. */
const GRACE_MS = 5 * 60_000;

interface Context extends RegistryDeps {
  readonly resources: Map<string, Resource>;
  /** They are reported as 0, so that no one relies on them any more. */
  readonly forgotten: Set<string>;
  readonly stopping: AbortSignal;
  /** From now on its plugin is waited for. */
  readonly waitForPlugin: (resource: Resource) => void;
}

export function createRegistry(deps: RegistryDeps): Registry {
  const { clock } = deps;
  const resources = new Map<string, Resource>();
  const forgotten = new Set<string>();
  const stopping = new AbortController();
  const alarm = createAlarm(clock, () => forgetExpired(context, alarm.ringAt));
  const waitForPlugin = (resource: Resource): void => {
    resource.since = clock.now();
    alarm.ringAt(resource.since + GRACE_MS);
  };
  const context: Context = { ...deps, resources, forgotten, stopping: stopping.signal, waitForPlugin };

  return {
    restore: (known) => {
      for (const [name, lastHealthy] of known) {
        const resource = { ...newResource(), lastHealthy };
        resources.set(name, resource);
        waitForPlugin(resource);
      }
    },
    register: (name, socket) => register(context, name, socket),
    deregister: (name, socket) => {
      const resource = resources.get(name);
      if (resource?.plugin?.endpoint.socket === socket) disconnect(context, name, resource);
    },
    has: (name) => resources.has(name),
    inventory: (name) => resources.get(name)?.inventory ?? NO_DEVICES,
    plugin: (name) => resources.get(name)?.plugin,
    lateUntil: (name) => {
      const resource = resources.get(name);
      if (resource === undefined || isServed(resource)) return undefined;
      const until = resource.since + GRACE_MS;
      return until > clock.now() ? until : undefined;
    },
    counts: () =>
      new Map([
        ...[...forgotten].map((name) => [name, { capacity: 0, allocatable: 0, expected: 0 }] as const),
        ...[...resources].map(([name, { inventory, lastHealthy }]) => {
          const healthy = healthyIds(inventory).length;
          return [name, { capacity: inventory.size, allocatable: healthy, expected: lastHealthy.length }] as const;
        }),
      ]),
    healthy: () => new Map([...resources].map(([name, { lastHealthy }]) => [name, lastHealthy])),
    stop: () => {
      alarm.clear();
      stopping.abort(new CodedError('unavailable', 'the kubelet is stopping'));
      for (const { plugin } of resources.values()) void plugin?.endpoint.close();
    },
  };
}

const newResource = (): Resource => ({
  inventory: NO_DEVICES,
  lastHealthy: [],
  plugin: undefined,
  listed: false,
  since: 0,
});

const isServed = ({ plugin, listed }: Resource): boolean => plugin !== undefined && listed;

function forgetExpired({ clock, log, resources, forgotten, onChange }: Context, ringAt: (time: number) => void): void {
  for (const [name, resource] of resources) {
    if (isServed(resource)) continue;
    const until = resource.since + GRACE_MS;
    if (until > clock.now()) {
      ringAt(until);
      continue;
    }
    if (resource.plugin === undefined) {
      resources.delete(name);
      forgotten.add(name);
      log.info('Device plugin did not come back, its resource is removed', { resourceName: name });
    }
    onChange(name, []);
  }
}

function update({ onChange }: Context, name: string, resource: Resource, inventory: Inventory): void {
  const changed = changedHealth(resource.inventory, inventory);
  resource.inventory = inventory;
  onChange(name, changed);
}

function disconnect(context: Context, name: string, resource: Resource): void {
  const { plugin } = resource;
  if (plugin === undefined) return;
  plugin.link.abort(new CodedError('unavailable', 'the device plugin was disconnected'));
  resource.plugin = undefined;
  context.waitForPlugin(resource);
  context.log.info('Endpoint became unhealthy', { resourceName: name });
  update(context, name, resource, allUnhealthy(resource.inventory));
  void plugin.endpoint.close();
}

async function register(context: Context, name: string, socket: string): Promise<void> {
  const { log, connect, record, resources, forgotten } = context;
  const endpoint = connect(socket);
  const link = linkSignal(context.stopping);
  try {
    const options = await endpoint.options(link.signal);
    const resource = resources.get(name) ?? newResource();
    const before = resource.plugin;
    resource.plugin = { endpoint, options, link };
    resource.listed = false;
    context.waitForPlugin(resource);
    resources.set(name, resource);
    forgotten.delete(name);
    log.info('Device plugin connected', { resourceName: name, path: socket });
    // The new one lists its devices in a moment: until then the list of the old one stands.
    before?.link.abort(new CodedError('gone', 'another plugin serves the resource'));
    void before?.endpoint.close();
    void follow(context, name, resource, { endpoint, signal: link.signal });
  } catch (error) {
    link.abort(new CodedError('unavailable', 'the device plugin could not be registered'));
    void endpoint.close();
    const problem = `failed to get device plugin options: ${describeError(error)}`;
    const message = `Device plugin of ${name} at ${socket}: ${problem}`;
    record({ node: true, type: 'Warning', reason: 'DevicePluginRegistrationFailed', message });
    throw new Error(problem, { cause: error });
  }
}

/** Until the plugin ends the stream, or breaks it by what it sends. */
async function follow(
  context: Context,
  name: string,
  resource: Resource,
  { endpoint, signal }: { readonly endpoint: Endpoint; readonly signal: AbortSignal },
): Promise<void> {
  const { log } = context;
  let reason = 'the plugin ended the stream';
  const onList = ({ devices }: ListAndWatchResponse): void => {
    if (resource.plugin?.endpoint !== endpoint) return;
    const inventory = inventoryOf(devices);
    resource.listed = true;
    resource.lastHealthy = healthyIds(inventory);
    update(context, name, resource, inventory);
    const counts = { totalCount: devices.length, healthyCount: resource.lastHealthy.length };
    log.v(2)?.info('Processed device updates for resource', { resourceName: name, ...counts });
  };
  try {
    await endpoint.listAndWatch(onList, signal);
  } catch (error) {
    if (signal.aborted) return;
    reason = describeError(error);
  }
  if (resource.plugin?.endpoint !== endpoint) return;
  log.error('ListAndWatch ended unexpectedly for device plugin', { resource: name, err: reason });
  const message = `Device plugin of ${name} has gone: ${reason}`;
  context.record({ node: true, type: 'Warning', reason: 'DevicePluginGone', message });
  disconnect(context, name, resource);
}
