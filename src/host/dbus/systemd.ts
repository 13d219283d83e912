/** systemd's manager over D-Bus: transient units, their properties, and waiting for the jobs that start and stop them. */
import type { Clock } from '../../base/clock.ts';
import { CodedError, codeOf } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';
import type { Bus } from './bus.ts';
import type { DBusValue, Variant } from './values.ts';

export interface UnitProperty {
  readonly name: string;
  readonly value: Variant;
}

export interface Systemd {
  /** Makes a unit that is on no disk, and waits until it is active. Nothing happens to one that is there. */
  startTransientUnit(name: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>;
  /** Until the next boot. */
  setUnitProperties(name: string, properties: readonly UnitProperty[], signal: AbortSignal): Promise<void>;
  /** Waits until it is inactive. Nothing happens where there is none. */
  stopUnit(name: string, signal: AbortSignal): Promise<void>;
  /** The first number of systemd's version. */
  version(signal: AbortSignal): Promise<number>;
}

const NAME = 'org.freedesktop.systemd1';
const MANAGER = { destination: NAME, path: '/org/freedesktop/systemd1', interface: `${NAME}.Manager` };
/** For everything that one operation takes: calls, the job, and a systemd that is being replaced meanwhile. */
const OPERATION_MS = 30_000;
/** A systemd that starts itself again is away for some hundred milliseconds. */
const RETRY_MS = { first: 50, longest: 1000 };
/** With `replace`, a job that contradicts this one is given up. */
const MODE = 'replace';

export function createSystemd(clock: Clock, bus: Bus): Systemd {
  const manager = (member: string, signature: string, body: readonly DBusValue[], signal: AbortSignal) =>
    bus.call({ ...MANAGER, member, signature, body }, signal);

  /** Tries again while systemd or the bus is away. */
  const operation = async <T>(
    what: string,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    using deadline = withDeadline(clock, OPERATION_MS, what, signal);
    for (let wait = RETRY_MS.first; ; wait = Math.min(2 * wait, RETRY_MS.longest)) {
      try {
        return await run(deadline.signal);
      } catch (error) {
        if (codeOf(error) !== 'unavailable') throw error;
        // At the deadline, the reason why systemd is away says more than the deadline itself.
        await clock.sleep(wait, deadline.signal).catch(() => Promise.reject(signal.aborted ? signal.reason : error));
      }
    }
  };

  /** The job's result may come before the reply that names the job has been dealt with: so results are collected from before the call. */
  const job = async (member: string, signature: string, body: readonly DBusValue[], signal: AbortSignal) => {
    const results = new Map<DBusValue, DBusValue>();
    const settled = Promise.withResolvers<DBusValue>();
    let awaited: DBusValue | undefined;
    const settle = () => {
      const result = awaited === undefined ? undefined : results.get(awaited);
      if (result !== undefined) settled.resolve(result);
    };
    const unsubscribe = bus.subscribe(
      { sender: NAME, path: MANAGER.path, interface: MANAGER.interface, member: 'JobRemoved' },
      {
        onSignal: ([, path, , result]) => {
          results.set(path ?? '', result ?? '');
          settle();
        },
        onLost: settled.reject,
      },
    );
    const onAbort = () => settled.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    settled.promise.catch(() => undefined);
    try {
      [awaited] = (await manager(member, signature, body, signal)).body;
      settle();
      return await settled.promise;
    } finally {
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
    }
  };

  /** A unit that failed stays in systemd's memory, with its name taken, until it is reset. */
  const resetFailed = async (name: string, signal: AbortSignal) => {
    try {
      await manager('ResetFailedUnit', 's', [name], signal);
    } catch (error) {
      if (codeOf(error) !== 'notFound') throw error;
    }
  };

  return {
    startTransientUnit: (name, properties, signal) =>
      operation(`starting unit ${name}`, signal, async (within) => {
        try {
          const body = [name, MODE, propertyList(properties), []];
          const result = await job('StartTransientUnit', 'ssa(sv)a(sa(sv))', body, within);
          if (result === 'done') return;
          await resetFailed(name, within);
          throw new CodedError('internal', `systemd did not create unit ${name}: ${String(result)}`);
        } catch (error) {
          if (codeOf(error) !== 'exists') throw error;
        }
      }),
    setUnitProperties: (name, properties, signal) =>
      operation(`setting properties of unit ${name}`, signal, async (within) => {
        const runtime = true;
        await manager('SetUnitProperties', 'sba(sv)', [name, runtime, propertyList(properties)], within);
      }),
    stopUnit: (name, signal) =>
      operation(`stopping unit ${name}`, signal, async (within) => {
        try {
          await job('StopUnit', 'ss', [name, MODE], within);
        } catch (error) {
          if (codeOf(error) !== 'notFound') throw error;
        }
        await resetFailed(name, within);
      }),
    version: (signal) =>
      operation("asking for systemd's version", signal, async (within) => {
        const call = { ...MANAGER, interface: 'org.freedesktop.DBus.Properties' };
        const body = [MANAGER.interface, 'Version'];
        const {
          body: [version],
        } = await bus.call({ ...call, member: 'Get', signature: 'ss', body }, within);
        return parseVersion((version as Variant).value);
      }),
  };
}

function propertyList(properties: readonly UnitProperty[]): DBusValue {
  return properties.map(({ name, value }) => [name, value]);
}

/** `v252.39-1~deb12u1` is 252. */
function parseVersion(value: DBusValue): number {
  const digits = /\d+/.exec(String(value))?.[0];
  if (digits === undefined)
    throw new CodedError('unsupported', `systemd's version is ${JSON.stringify(String(value))}`);
  return Number(digits);
}
