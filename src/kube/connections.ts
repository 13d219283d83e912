/**
 * The connections of one kind of client. Usually there is one, opened by the first call and again by the first call after it was lost.
 * There are more only while the server does not allow more calls at once on the first.
 *
 *   none ──call──► dialling ──► open ──closed, silent, renewed──► none
 *                     └──failed: next attempt not before the back-off──► none
 *
 * Every call makes one attempt to connect, or shares one that is under way.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal, withDeadline } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { HttpReply } from '../wire/http-reply.ts';
import type { Call, Link } from './link.ts';
import { abortable } from './shared.ts';

export interface Connections {
  open(call: Call, signal: AbortSignal): Promise<HttpReply>;
  /** Fails everything under way; the next call makes a new connection. */
  reconnect(reason: string): void;
  /** New calls go to a new connection, watches are cut, other calls under way finish. */
  renew(reason: string): void;
  close(): Promise<void>;
}

export interface ConnectionsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly random: () => number;
  readonly dial: (signal: AbortSignal) => Promise<Link>;
  /** `https://192.0.2.1:6443`. */
  readonly server: string;
}

const FIRST_BACK_OFF_MS = 50;
const LONGEST_BACK_OFF_MS = 1_000;
/** For the socket, TLS and the first frame of HTTP/2. */
const DIAL_TIMEOUT_MS = 15_000;
/** A connection on which nothing was received for this long is pinged, and closed if the ping is not answered. */
const SILENCE_MS = 30_000;
/** HTTP/1.1 has no pings; a healthy server sends bookmarks to every watch about once a minute. */
const SILENCE_WITHOUT_PING_MS = 150_000;
const LOOK_MS = 10_000;
const PING_TIMEOUT_MS = 15_000;
/** After a request without an answer in time: the connection is pinged at once, and for a shorter time. */
const SUSPECT_PING_TIMEOUT_MS = 5_000;
/** An additional connection is closed after being idle for this long. */
const IDLE_MS = 60_000;
/** How often a call that the server has certainly not processed is sent over another connection. */
const MOST_REFUSALS = 3;

export function createConnections(deps: ConnectionsDeps): Connections {
  const { clock, log, server, supervisor } = deps;
  const closing = linkSignal();
  const links = new Set<Link>();
  let attempt: Promise<Link> | undefined;
  let dialling: LinkedSignal | undefined;
  let failures = 0;
  let retryAt = 0;

  const dial = async (): Promise<Link> => {
    const wait = retryAt - clock.mono();
    if (failures > 0 && wait > 0) await clock.sleep(wait, closing.signal);
    using limit = withDeadline(clock, DIAL_TIMEOUT_MS, `connecting to ${server}`, closing.signal);
    dialling = limit;
    try {
      const link = await deps.dial(limit.signal);
      failures = 0;
      adopt(link);
      return link;
    } catch (cause) {
      closing.signal.throwIfAborted();
      const longest = Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
      retryAt = clock.mono() + longest * (0.5 + deps.random() / 2);
      failures = Math.min(failures + 1, 10);
      throw new CodedError('unavailable', `failed to connect to the API server ${server}`, { cause });
    }
  };
  const adopt = (link: Link) => {
    const life = linkSignal(closing.signal);
    links.add(link);
    void link.closed.then(() => {
      links.delete(link);
      life.abort('closed');
      life[Symbol.dispose]();
    });
    let isPinging = false;
    link.onSuspicion(() => {
      if (isPinging) return;
      isPinging = true;
      void pingOrDestroy(link, { clock, log, server, timeoutMs: SUSPECT_PING_TIMEOUT_MS }, life.signal).then(() => {
        isPinging = false;
      });
    });
    void watchLink(link, { clock, log, server, supervisor, isAdditional: () => links.size > 1 }, life.signal);
  };
  const pick = (): Link | undefined => {
    for (const link of links) if (link.hasRoom()) return link;
    return undefined;
  };
  const ensureOne = async (signal: AbortSignal): Promise<void> => {
    closing.signal.throwIfAborted();
    attempt ??= dial().finally(() => {
      attempt = undefined;
    });
    await abortable(attempt, signal);
  };
  return {
    open: async (call, signal) => {
      for (let refusals = 0; ; ) {
        // There must be no await between the check for room and its use: many calls wait for the same new connection.
        const link = pick();
        if (link === undefined) {
          await ensureOne(signal);
          continue;
        }
        try {
          return await link.open(call, signal);
        } catch (error) {
          refusals += 1;
          if (refusals > MOST_REFUSALS || !isRefused(error)) throw error;
        }
      }
    },
    reconnect: (reason) => {
      // An attempt to connect may hang as well as an open connection.
      dialling?.abort(new CodedError('unavailable', reason));
      for (const link of links) link.destroy(new CodedError('unavailable', reason));
    },
    renew: (reason) => {
      for (const link of links) link.retire(new CodedError('unavailable', reason));
    },
    close: async () => {
      const reason = new CodedError('unavailable', 'the client was closed');
      closing.abort(reason);
      const open = [...links];
      for (const link of open) link.destroy(reason);
      await Promise.all(open.map(({ closed }) => closed));
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof CodedError && error.data['refused'] === true;
}

interface LinkCare {
  readonly clock: Clock;
  readonly log: Logger;
  readonly server: string;
}

/** Until the link is closed: detects silence, and closes an additional connection that is idle. */
async function watchLink(
  link: Link,
  care: LinkCare & { readonly supervisor: Supervisor; readonly isAdditional: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  const { clock } = care;
  let idleSince: number | undefined;
  let received = link.received();
  let receivedAt = clock.mono();
  const look = async (): Promise<void> => {
    const now = clock.mono();
    if (link.received() !== received) receivedAt = now;
    if (link.active() > 0) idleSince = undefined;
    else idleSince ??= now;
    if (idleSince !== undefined && care.isAdditional() && now - idleSince >= IDLE_MS) {
      link.retire(new CodedError('unavailable', 'no longer needed'));
    } else if (link.ping === undefined && link.active() > 0 && now - receivedAt >= SILENCE_WITHOUT_PING_MS) {
      link.destroy(new CodedError('unavailable', `${care.server} does not answer`));
    } else if (now - receivedAt >= SILENCE_MS) {
      await pingOrDestroy(link, { ...care, timeoutMs: PING_TIMEOUT_MS }, signal);
      if (link.ping !== undefined) receivedAt = clock.mono();
    }
    received = link.received();
  };
  const rest = () => clock.sleep(LOOK_MS, signal);
  const loop = { name: 'API connection', oneOfMany: true, restFirst: true, pass: look, rest };
  await care.supervisor.run(loop, signal);
}

async function pingOrDestroy(
  link: Link,
  { clock, log, server, timeoutMs }: LinkCare & { readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<void> {
  if (link.ping === undefined || signal.aborted) return;
  const before = link.received();
  using limit = withDeadline(clock, timeoutMs, `ping of ${server}`, signal);
  await abortable(link.ping(), limit.signal).catch((error: unknown) => {
    // Other bytes prove that the server is alive too: the answer to a ping waits behind a long list.
    if (signal.aborted || link.received() !== before) return;
    log.warn('The API server does not answer pings, closing the connection', { server, err: error });
    link.destroy(new CodedError('unavailable', `${server} does not answer`, { cause: error }));
  });
}
