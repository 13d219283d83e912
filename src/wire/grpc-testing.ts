/** Servers and clients for the tests of this directory, each gone at the end of its test. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, createSystemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createGrpcClient, type GrpcClient } from './grpc-client.ts';
import { createGrpcServer, type GrpcServer, type Handler, type ServerCall } from './grpc-server.ts';

export const never = new AbortController().signal;

export async function socketPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grpc-'));
  t.after(() => rm(directory, { recursive: true }));
  return join(directory, 's.sock');
}

export async function serve(t: TestContext, path: string, ...handlers: readonly Handler[]): Promise<GrpcServer> {
  const server = createGrpcServer(handlers);
  await server.listen(path);
  t.after(() => server.close());
  return server;
}

export function clientOf(
  t: TestContext,
  path: string,
  options: { clock?: Clock; maxMessageBytes?: number } = {},
): GrpcClient {
  const client = createGrpcClient({ endpoint: `unix://${path}`, clock: createSystemClock(), ...options });
  t.after(() => client.close());
  return client;
}

/** A server below gRPC, for answers that ours would never give. */
export async function serveRaw(
  t: TestContext,
  path: string,
  answer: (stream: ServerHttp2Stream, method: string) => void,
): Promise<void> {
  const server = createHttp2Server();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => stream.destroy());
    stream.resume();
    answer(stream, headers[':path'] ?? '');
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
}

/** A peer that takes connections and does with them what the test wants. */
export async function serveSockets(t: TestContext, path: string, onSocket: (socket: Socket) => void): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

export const hang = (call: ServerCall): Promise<never> =>
  new Promise((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true }));

export const coded = (code: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CodedError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, text);
  return true;
};

const grpc = { ':status': 200, 'content-type': 'application/grpc' } as const;

export function withTrailers(stream: ServerHttp2Stream, body: Uint8Array, trailers: Record<string, string>): void {
  stream.respond(grpc, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}
