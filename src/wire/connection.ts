/**
 * One HTTP/2 session to a Unix socket, opened when it is first needed and again after it died.
 *
 *   idle ──session()──► dialling ──connected──► ready ──closed, GOAWAY, ping unanswered──► idle
 *                          └──failed: next attempt not before the back-off──► idle
 *
 * Every call gets one real attempt of its own or shares one that is under way: nothing fails just because an earlier
 * attempt failed, and a peer that is away is still not knocked at more than every few milliseconds.
 */
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';

const FIRST_BACK_OFF = 10;
const LONGEST_BACK_OFF = 250;
const PING_TIMEOUT = 5_000;
/** Go servers end a connection that is pinged more often than this while a stream is open. */
const PING_GAP = 5 * 60_000;
/** HTTP/2's 64 KiB would make a long list wait for window updates several times. */
const WINDOW = 1 << 20;

export interface Link {
  readonly session: ClientHttp2Session;
  /** Bytes received so far: shows whether the peer is alive. */
  received(): number;
}

export interface Connection {
  link(signal: AbortSignal): Promise<Link>;
  /** A call got no answer in time: pings the peer, and gives the session up if that is not answered either. */
  suspect(link: Link): void;
  /** The peer takes no new calls on this one: the next call gets another. What is under way goes on. */
  retire(link: Link): void;
  close(): Promise<void>;
}

interface OpenLink extends Link {
  readonly socket: Socket;
  pingedAt: number | undefined;
}

export function createConnection({ path, clock }: { readonly path: string; readonly clock: Clock }): Connection {
  const closing = new AbortController();
  const open = new Set<OpenLink>();
  let current: OpenLink | undefined;
  let attempt: Promise<OpenLink> | undefined;
  let failures = 0;
  let retryAt = 0;

  const noteFailure = () => {
    retryAt = clock.mono() + Math.min(FIRST_BACK_OFF * 2 ** failures, LONGEST_BACK_OFF);
    failures = Math.min(failures + 1, 10);
  };

  const dial = async (): Promise<OpenLink> => {
    const wait = retryAt - clock.mono();
    if (failures > 0 && wait > 0) await clock.sleep(wait, closing.signal);
    const socket = await openSocket(path, closing.signal).catch((error: unknown) => {
      noteFailure();
      throw error;
    });
    const link = openLink(socket);
    watch(link);
    return link;
  };

  const retire = (link: Link) => {
    if (current === link) current = undefined;
  };

  const watch = (link: OpenLink) => {
    let answered = false;
    const drop = () => retire(link);
    open.add(link);
    current = link;
    link.session.once('remoteSettings', () => {
      answered = true;
      failures = 0;
    });
    link.session.once('goaway', drop);
    link.session.once('close', () => {
      open.delete(link);
      drop();
      if (!answered) noteFailure();
    });
    // The streams of the session report what happened; without a listener the error would end the process.
    link.session.on('error', drop);
  };

  return {
    link: (signal) => {
      if (closing.signal.aborted) return Promise.reject(closing.signal.reason);
      if (current !== undefined && !current.session.closed && !current.session.destroyed)
        return Promise.resolve(current);
      attempt ??= dial().finally(() => {
        attempt = undefined;
      });
      return abortable(attempt, signal);
    },
    retire,
    suspect: (link) => pingOrDestroy(link as OpenLink, clock, path),
    close: async () => {
      closing.abort(new CodedError('unavailable', `${path}: the client was closed`));
      await Promise.all([...open].map(({ session }) => destroyed(session)));
    },
  };
}

function openSocket(path: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connectSocket(path);
    const onAbort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', (cause) => {
      signal.removeEventListener('abort', onAbort);
      reject(signal.aborted ? signal.reason : new CodedError('unavailable', `no connection to ${path}`, { cause }));
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
  });
}

function openLink(socket: Socket): OpenLink {
  const session = connectHttp2('http://localhost', {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW },
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW));
  return { session, socket, received: () => socket.bytesRead, pingedAt: undefined };
}

function pingOrDestroy(link: OpenLink, clock: Clock, path: string): void {
  const now = clock.mono();
  if (link.session.destroyed || (link.pingedAt !== undefined && now - link.pingedAt < PING_GAP)) return;
  link.pingedAt = now;
  const done = new AbortController();
  link.session.ping(() => done.abort());
  clock.sleep(PING_TIMEOUT, done.signal).then(
    () => link.session.destroy(new CodedError('unavailable', `${path}: no answer to a ping within ${PING_TIMEOUT} ms`)),
    () => undefined, // answered, or the session is closed
  );
}

function destroyed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    session.once('close', resolve);
    session.destroy();
  });
}

/** The shared attempt goes on when one of those who wait for it gives up. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
