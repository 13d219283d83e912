/**
 * The system bus, or a peer that is spoken to without one. Connects with the first call and again when the connection was lost (dbus or
 * systemd was restarted), with the same subscriptions.
 */
import type { Clock } from '../../base/clock.ts';
import { CodedError, describeError } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';
import { type DBusConnection, type DBusReply, openConnection } from './connection.ts';
import { type DBusMessage, MESSAGE_TYPE, type MethodCall } from './message.ts';
import type { OpenStream } from './stream.ts';
import type { DBusValue } from './values.ts';

export interface SignalMatch {
  /** Undefined: anyone. */
  readonly sender?: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

export interface SignalListener {
  onSignal(body: readonly DBusValue[]): void;
  /** The connection ended: signals may have been missed. They come again after the next call. */
  onLost?(error: CodedError): void;
}

export interface Bus {
  /** Never waits longer than `timeoutMs`. `unavailable`: the bus or its peer is away just now, and a retry makes sense. */
  call(call: BusCall, signal: AbortSignal): Promise<DBusReply>;
  /** From the next call on. Answers the function that ends it. */
  subscribe(match: SignalMatch, listener: SignalListener): () => void;
  close(): void;
}

export interface BusCall extends Omit<MethodCall, 'destination'> {
  readonly destination: string;
  readonly timeoutMs?: number;
}

export interface BusDeps {
  readonly clock: Clock;
  readonly open: OpenStream;
  readonly uid: number;
}

export interface BusAddress {
  readonly path: string;
  /** False: the one peer listens here by itself, as systemd does for root. */
  readonly isBus: boolean;
}

const CALL_TIMEOUT_MS = 25_000;
const SIGN_ON_TIMEOUT_MS = 10_000;
const BUS = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' };

/** Tries the addresses in their order at each connect. */
export function createBus(deps: BusDeps, addresses: readonly BusAddress[]): Bus {
  const subscriptions = new Map<SignalListener, SignalMatch>();
  /** Ready for calls, with the subscriptions that it has. */
  let connecting: Promise<Link> | undefined;
  let closed = false;

  interface Link {
    readonly connection: DBusConnection;
    readonly isBus: boolean;
    readonly matched: Set<string>;
  }

  const onSignal = (message: DBusMessage) => {
    if (message.type !== MESSAGE_TYPE.signal) return;
    for (const [listener, match] of [...subscriptions]) if (fits(message, match)) listener.onSignal(message.body);
  };

  const open = async ({ path, isBus }: BusAddress): Promise<Link> => {
    const never = new AbortController().signal;
    using deadline = withDeadline(deps.clock, SIGN_ON_TIMEOUT_MS, `signing on at ${path}`, never);
    const connection = await openConnection({ path, onSignal, open: deps.open, uid: deps.uid }, deadline.signal);
    const link = { connection, isBus, matched: new Set<string>() };
    try {
      if (isBus) await connection.call({ ...BUS, member: 'Hello', signature: '', body: [] }, deadline.signal);
    } catch (error) {
      connection.close();
      throw error;
    }
    return link;
  };

  const openAny = async (): Promise<Link> => {
    const failures: string[] = [];
    for (const address of addresses) {
      try {
        return await open(address);
      } catch (error) {
        failures.push(describeError(error));
      }
    }
    throw new CodedError('unavailable', `no D-Bus connection: ${failures.join('; ')}`);
  };

  const connect = (): Promise<Link> => {
    const attempt = openAny();
    const forget = () => {
      if (connecting === attempt) connecting = undefined;
    };
    attempt.then(({ connection }) => {
      if (closed) connection.close();
      void connection.ended.then((error) => {
        forget();
        for (const listener of [...subscriptions.keys()]) listener.onLost?.(error);
      });
    }, forget);
    return attempt;
  };

  const match = async (link: Link, signal: AbortSignal): Promise<void> => {
    const missing = new Set([...subscriptions.values()].map(ruleOf).filter((rule) => !link.matched.has(rule)));
    if (!link.isBus) return;
    for (const rule of missing) {
      link.matched.add(rule);
      await link.connection
        .call({ ...BUS, member: 'AddMatch', signature: 's', body: [rule] }, signal)
        .catch((error) => {
          link.matched.delete(rule);
          throw error;
        });
    }
  };

  return {
    call: async (call, signal) => {
      if (closed) throw new CodedError('unavailable', 'the D-Bus client is closed');
      const { timeoutMs = CALL_TIMEOUT_MS, ...method } = call;
      using deadline = withDeadline(deps.clock, timeoutMs, `D-Bus call ${call.member}`, signal);
      connecting ??= connect();
      const link = await connecting;
      await match(link, deadline.signal);
      const destination = link.isBus ? call.destination : undefined;
      return await link.connection.call({ ...method, destination }, deadline.signal);
    },
    subscribe: (rule, listener) => {
      subscriptions.set(listener, rule);
      return () => void subscriptions.delete(listener);
    },
    close: () => {
      closed = true;
      void connecting?.then(
        ({ connection }) => connection.close(),
        () => undefined,
      );
    },
  };
}

function ruleOf(match: SignalMatch): string {
  const rule = { type: 'signal', ...match };
  return Object.entries(rule)
    .map(([key, value]) => `${key}='${value}'`)
    .join(',');
}

/** The sender is a unique name in messages: the bus has checked that it is the owner of the name in the rule. */
function fits(message: DBusMessage, match: SignalMatch): boolean {
  return message.path === match.path && message.interface === match.interface && message.member === match.member;
}
