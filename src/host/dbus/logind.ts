/** logind over D-Bus: a lock that delays a shutdown, how long it may, and whether one is under way. */
import { closeSync } from 'node:fs';
import { CodedError } from '../../base/errors.ts';
import type { Bus } from './bus.ts';
import type { DBusValue, Variant } from './values.ts';

export interface InhibitLock {
  /** The shutdown goes on as soon as no one holds a lock. */
  release(): void;
}

export interface Logind {
  /** The longest time that locks may delay a shutdown, ms. */
  inhibitDelay(signal: AbortSignal): Promise<number>;
  /** Whether a shutdown is under way. */
  isPreparing(signal: AbortSignal): Promise<boolean>;
  /** `conflict`: a shutdown is under way already. */
  inhibit(signal: AbortSignal): Promise<InhibitLock>;
  /** Makes logind read its configuration again. It does so some time after the call. */
  reload(signal: AbortSignal): Promise<void>;
  /** `onShutdown(false)`: one was cancelled. From the next call on; answers the function that ends it. */
  watch(listener: { onShutdown(isActive: boolean): void; onLost(error: CodedError): void }): () => void;
}

const NAME = 'org.freedesktop.login1';
const MANAGER = { destination: NAME, path: '/org/freedesktop/login1', interface: `${NAME}.Manager` };
const PROPERTIES = 'org.freedesktop.DBus.Properties';
const SYSTEMD = 'org.freedesktop.systemd1';
const SIGHUP = 1;

export function createLogind(bus: Bus): Logind {
  const property = async (name: string, signal: AbortSignal): Promise<DBusValue> => {
    const call = { ...MANAGER, interface: PROPERTIES, member: 'Get', signature: 'ss', body: [MANAGER.interface, name] };
    const { body } = await bus.call(call, signal);
    return (body[0] as Variant).value;
  };
  return {
    inhibitDelay: async (signal) => Number(await property('InhibitDelayMaxUSec', signal)) / 1000,
    isPreparing: async (signal) => (await property('PreparingForShutdown', signal)) === true,
    inhibit: async (signal) => {
      const body = ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay'];
      const { fds } = await bus.call({ ...MANAGER, member: 'Inhibit', signature: 'ssss', body }, signal);
      const [fd] = fds;
      if (fd === undefined) throw new CodedError('unsupported', 'logind gave no file descriptor for the lock');
      let isHeld = true;
      return {
        release: () => {
          if (isHeld) closeSync(fd);
          isHeld = false;
        },
      };
    },
    reload: async (signal) => {
      const manager = { destination: SYSTEMD, path: '/org/freedesktop/systemd1', interface: `${SYSTEMD}.Manager` };
      const body = ['systemd-logind.service', 'all', SIGHUP];
      await bus.call({ ...manager, member: 'KillUnit', signature: 'ssi', body }, signal);
    },
    watch: ({ onShutdown, onLost }) =>
      bus.subscribe(
        // Of any sender, as the reference takes it.
        { path: MANAGER.path, interface: MANAGER.interface, member: 'PrepareForShutdown' },
        {
          onSignal: ([isActive]) => {
            if (typeof isActive === 'boolean') onShutdown(isActive);
          },
          onLost,
        },
      ),
  };
}
