/** A server or a proxy that speaks only HTTP/1.1: one socket for each call under way, kept for the next one. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Call, Link, Reply } from './link.ts';

export interface Http1Deps {
  /** More sockets of the same kind; the first one is there. */
  readonly openSocket: () => Promise<Socket>;
  readonly authority: string;
}

const IDLE_SOCKETS = 4;

export function createHttp1Link(first: Socket, deps: Http1Deps): Link {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS });
  const sockets = new Set<Socket>();
  const under = new Map<ClientRequest, boolean>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let spare: Socket | undefined = first;
  let ended: Error | undefined;
  let suspect: () => void = () => undefined;
  let receivedBefore = 0;

  const adopt = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      receivedBefore += socket.bytesRead;
      if (spare === socket) spare = undefined;
    });
    return socket;
  };
  // An idle socket that breaks is no one's error.
  adopt(first).on('error', () => undefined);
  agent.createConnection = (_options, done) => {
    const kept = spare;
    spare = undefined;
    if (kept !== undefined && !kept.destroyed) return kept;
    deps.openSocket().then(
      (socket) => done?.(null, adopt(socket)),
      (error: Error) => done?.(error, new Duplex()), // beside an error no one reads the stream
    );
    return undefined;
  };
  const destroy = (reason: Error) => {
    ended ??= reason;
    for (const call of under.keys()) call.destroy(reason);
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    close();
  };
  return {
    open: (call, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      const outgoing = send(agent, call, deps.authority);
      under.set(outgoing, call.endless);
      outgoing.once('close', () => {
        under.delete(outgoing);
        if (ended !== undefined && under.size === 0) destroy(ended);
      });
      return awaitReply(outgoing, signal, () => suspect());
    },
    hasRoom: () => ended === undefined,
    active: () => under.size,
    retire: (reason) => {
      ended ??= reason;
      for (const [call, endless] of under) if (endless) call.destroy(reason);
      if (under.size === 0) destroy(reason);
    },
    destroy,
    received: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, receivedBefore),
    ping: undefined,
    closed,
    onSuspicion: (listener) => {
      suspect = listener;
    },
  };
}

function send(agent: Agent, { method, path, headers, body }: Call, authority: string): ClientRequest {
  const length = body === undefined ? {} : { 'content-length': body.length };
  const outgoing = request({ agent, method, path, headers: { host: authority, ...headers, ...length } });
  outgoing.end(body);
  return outgoing;
}

function awaitReply(outgoing: ClientRequest, signal: AbortSignal, suspect: () => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      if (codeOf(signal.reason) === 'deadline') suspect();
      reject(signal.reason);
      outgoing.destroy();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => signal.removeEventListener('abort', onAbort);
    const fail = (cause: unknown) => {
      settle();
      reject(new CodedError('unavailable', 'the connection to the API server was lost', { cause }));
    };
    outgoing.on('error', fail);
    outgoing.once('close', () => fail(new Error('closed before the answer')));
    outgoing.once('response', (response: IncomingMessage) => {
      settle();
      // Who reads the body listens too; without a listener an error between the two would end the process.
      response.on('error', () => undefined);
      resolve({
        httpStatus: response.statusCode ?? 0,
        header: (name) => {
          const value = response.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: response,
        cancel: () => outgoing.destroy(),
      });
    });
  });
}
