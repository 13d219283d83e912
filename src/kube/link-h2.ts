/** A link over HTTP/2: many calls and watches at once on one connection. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { CodedError, codeOf } from '../base/errors.ts';
import type { HttpReply } from '../wire/http-reply.ts';
import type { Call, Link } from './link.ts';
import { type LinkEvent, type LinkLife, nextLinkLife } from './rules/link-life.ts';

/** HTTP/2's 64 KiB would make a long list wait for window updates many times. */
const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 8 << 20;
/** Megabytes; beyond them Node refuses streams. */
const SESSION_MEMORY = 64;
/** The most streams on one connection to a server that announces no limit. */
const MOST_STREAMS = 1000;

/** Resolves with the server's first frame. Owns the socket from the beginning, also if it fails. */
export function openHttp2Link(
  socket: Socket,
  origin: { readonly authority: string; readonly scheme: 'http' | 'https' },
  signal: AbortSignal,
): Promise<Link> {
  return new Promise((resolve, reject) => {
    const session = connect(`${origin.scheme}://${origin.authority}`, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    });
    let failure: Error | undefined;
    const onAbort = () => {
      failure = signal.reason;
      session.destroy();
    };
    const settle = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW));
    // Its streams report what happened; without a listener the error would end the process.
    session.on('error', (error) => {
      failure ??= error;
    });
    session.once('remoteSettings', () => {
      settle();
      resolve(createHttp2Link(session, socket, origin));
    });
    session.once('close', () => {
      settle();
      const cause = failure ?? new Error('closed by the server before its first frame');
      reject(
        signal.aborted
          ? signal.reason
          : new CodedError('unavailable', `HTTP/2 with ${origin.authority} failed`, { cause }),
      );
    });
  });
}

function createHttp2Link(
  session: ClientHttp2Session,
  socket: Socket,
  origin: { readonly authority: string; readonly scheme: string },
): Link {
  const endless = new Set<ClientHttp2Stream>();
  let active = 0;
  let life: LinkLife = 'open';
  let suspect: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => session.once('close', resolve));
  const happen = (event: LinkEvent) => {
    const next = nextLinkLife(life, event, active);
    life = next.life;
    const { effect } = next;
    if (effect.kind === 'cutEndless') for (const stream of endless) stream.destroy(effect.reason);
    else if (effect.kind === 'close') session.close();
    else if (effect.kind === 'destroy' && !session.destroyed) session.destroy(effect.reason);
  };
  const open = (call: Call, signal: AbortSignal): Promise<HttpReply> => {
    if (signal.aborted) return Promise.reject(signal.reason);
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(
        {
          ':method': call.method,
          ':path': call.path,
          ':authority': origin.authority,
          ':scheme': origin.scheme,
          ...call.headers,
        },
        { endStream: call.body === undefined },
      );
    } catch (cause) {
      // The session has ended, or has used up its stream numbers after a billion calls: the next call needs another one.
      happen({ kind: 'retire', reason: cause instanceof Error ? cause : new Error(String(cause)) });
      return Promise.reject(
        new CodedError('unavailable', 'the connection is closed', { cause, data: { refused: true } }),
      );
    }
    active += 1;
    if (call.endless) endless.add(stream);
    stream.once('close', () => {
      active -= 1;
      endless.delete(stream);
      happen({ kind: 'callOver' });
    });
    if (call.body !== undefined) stream.end(call.body);
    return awaitReply(stream, signal, () => suspect());
  };
  return {
    open,
    hasRoom: () => !session.closed && !session.destroyed && life === 'open' && active < streamLimit(session),
    active: () => active,
    retire: (reason) => happen({ kind: 'retire', reason }),
    destroy: (reason) => happen({ kind: 'destroy', reason }),
    received: () => socket.bytesRead,
    ping: () =>
      new Promise((resolve) => {
        if (session.destroyed || !session.ping((error) => error === null && resolve())) return;
      }),
    closed,
    onSuspicion: (listener) => {
      suspect = listener;
    },
  };
}

function streamLimit(session: ClientHttp2Session): number {
  return Math.min(session.remoteSettings?.maxConcurrentStreams ?? MOST_STREAMS, MOST_STREAMS);
}

function awaitReply(stream: ClientHttp2Stream, signal: AbortSignal, suspect: () => void): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    let replied = false;
    const onAbort = () => {
      if (codeOf(signal.reason) === 'deadline') suspect();
      reject(signal.reason);
      stream.close(constants.NGHTTP2_CANCEL);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => signal.removeEventListener('abort', onAbort);
    // Stays for the whole life of the stream; the reader of the body has a listener too.
    stream.on('error', (error) => {
      failure = error;
    });
    stream.once('response', (headers) => {
      replied = true;
      settle();
      resolve({
        httpStatus: headers[':status'] ?? 0,
        header: (name) => {
          const value = headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: stream,
        cancel: () => stream.close(constants.NGHTTP2_CANCEL),
      });
    });
    stream.once('close', () => {
      settle();
      // Every stream closes in the end: an error, whose stack is expensive, is made only if a caller waits.
      if (!replied) reject(noReply(stream, failure));
    });
  });
}

function noReply(stream: ClientHttp2Stream, failure: Error | undefined): Error {
  const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  const cause = failure ?? new Error('closed before the answer');
  return new CodedError('unavailable', 'the connection to the API server was lost', { cause, data: { refused } });
}
