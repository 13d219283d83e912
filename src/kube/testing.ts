/** For tests: a server that can misbehave, a relay to it that can be blocked, and certificates. */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type Settings,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { type Clock, createSystemClock } from '../base/clock.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createKube, type Kube, type KubeConfig, type KubeDeps } from './kube.ts';

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface TestPki extends AsyncDisposable {
  readonly directory: string;
  readonly ca: KeyPair;
  /** Replaces existing files of this name. */
  issue(file: string, commonName: string, names?: readonly string[]): Promise<KeyPair>;
}

const run = promisify(execFile);
const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

export async function createTestPki(): Promise<TestPki> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-test-'));
  const pathsOf = (file: string): KeyPair => ({
    cert: join(directory, `${file}.crt`),
    key: join(directory, `${file}.key`),
  });
  const request = async (paths: KeyPair, commonName: string, more: readonly string[]): Promise<KeyPair> => {
    const out = ['-subj', `/CN=${commonName}`, '-keyout', paths.key, '-out', paths.cert];
    await run('openssl', ['req', '-x509', ...EC_KEY, ...out, ...more]);
    return paths;
  };
  const ca = await request(pathsOf('ca'), 'test-ca', ['-addext', 'basicConstraints=critical,CA:true']);
  return {
    directory,
    ca,
    issue: (file, commonName, names = []) => {
      const alternatives = names.map((name) => `${/^[0-9.]+$/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
      const extension = alternatives === '' ? [] : ['-addext', `subjectAltName=${alternatives}`];
      return request(pathsOf(file), commonName, ['-CA', ca.cert, '-CAkey', ca.key, ...extension]);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Http2ServerRequest['headers'];
  readonly version: string;
  readonly socket: Socket;
  /** The name in the client's certificate. */
  readonly client: string | undefined;
  readonly body: string;
}

export type Handler = (seen: Seen, response: Http2ServerResponse) => void;

export interface FakeServer extends AsyncDisposable {
  readonly port: number;
  readonly seen: readonly Seen[];
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  /** Replaces the handler of requests. */
  handle(handler: Handler): void;
  /** Other certificates for new connections. */
  present(pair: KeyPair): Promise<void>;
  /** Breaks every connection off. */
  cut(): void;
}

export interface FakeServerOptions {
  /** Undefined: no TLS, and HTTP/1.1. */
  readonly pair?: KeyPair;
  readonly clientCa?: string;
  readonly http2?: boolean;
  readonly settings?: Settings;
}

export async function startFakeServer(options: FakeServerOptions): Promise<FakeServer> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let handler: Handler = (_seen, response) => sendJson(response, 200, {});
  const listener = (request: Http2ServerRequest, response: Http2ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = describe(request, Buffer.concat(chunks).toString('utf8'));
      seen.push(one);
      handler(one, response);
    });
  };
  const server = await createAnyServer(options, listener);
  // With TLS these are the outer sockets: destroying the inner ones would leave handles that keep the process alive.
  server.on(options.pair === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    sessions,
    handle: (next) => {
      handler = next;
    },
    present: async (pair) => {
      if ('setSecureContext' in server) server.setSecureContext(await readPair(pair));
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

async function createAnyServer(
  { pair, clientCa, http2 = true, settings = {} }: FakeServerOptions,
  listener: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<Http2SecureServer | Server> {
  // Handlers use only what both interfaces have in common.
  if (pair === undefined) return createHttpServer(listener as never);
  const verify = clientCa === undefined ? {} : { ca: await readFile(clientCa), requestCert: true };
  const tls = { ...(await readPair(pair)), ...verify, rejectUnauthorized: clientCa !== undefined };
  return http2 ? createSecureServer({ ...tls, settings }, listener) : createHttpsServer(tls, listener as never);
}

async function readPair({ cert, key }: KeyPair) {
  return { cert: await readFile(cert), key: await readFile(key) };
}

function describe(request: Http2ServerRequest, body: string): Seen {
  const url = new URL(request.url, 'http://server');
  const socket = request.stream === undefined ? request.socket : (request.stream.session?.socket ?? request.socket);
  // The type of a session's socket does not have the methods of TLS.
  const name = (socket as Partial<TLSSocket>).getPeerCertificate?.()?.subject?.CN;
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    version: request.httpVersion,
    socket,
    client: Array.isArray(name) ? name[0] : name,
    body,
  };
}

export function sendJson(response: Http2ServerResponse, status: number, value: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

export function sendStatus(response: Http2ServerResponse, code: number, reason: string, headers = {}): void {
  sendJson(response, code, { kind: 'Status', code, reason, message: `${reason} it is` }, headers);
}

/** Passes bytes on to a port. While it is blocked, connections stay open and nothing passes. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  block(blocked: boolean): void;
  connections(): number;
}

export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let blocked = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const join = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (chunk) => void (blocked || to.write(chunk)));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    };
    join(near, far);
    join(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    block: (now) => {
      blocked = now;
    },
    connections: () => sockets.size / 2,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface TestKube extends AsyncDisposable {
  readonly kube: Kube;
  readonly signal: AbortSignal;
  /** Replaces the kubeconfig. */
  rewrite(cluster: object, user: object): Promise<void>;
}

export interface TestKubeOptions {
  readonly directory: string;
  readonly cluster: object;
  readonly user?: object;
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly deps?: Partial<KubeDeps>;
  readonly config?: Partial<KubeConfig>;
}

/** A started Kube with this cluster and user as its kubeconfig. */
export async function startTestKube(options: TestKubeOptions): Promise<TestKube> {
  const { directory, cluster, user = {}, clock = createSystemClock(), log = createSilentLogger() } = options;
  const path = join(directory, `${randomUUID()}.kubeconfig`);
  const rewrite = async (newCluster: object, newUser: object) => {
    const config = {
      clusters: [{ name: 'c', cluster: newCluster }],
      users: [{ name: 'u', user: newUser }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(path, JSON.stringify(config));
  };
  await rewrite(cluster, user);
  const kube = createKube(
    { clock, supervisor: createTestSupervisor(clock), log, random: () => 0, environment: {}, ...options.deps },
    {
      kubeconfig: path,
      limit: { perSecond: 1000, burst: 1000 },
      heartbeatTimeoutMs: 10_000,
      userAgent: 'kubelet/test',
      ...options.config,
    },
  );
  const { signal } = new AbortController();
  await kube.start(signal);
  return { kube, signal, rewrite, [Symbol.asyncDispose]: async () => await kube.stop?.() };
}

/** Waits for a condition that a real connection brings about. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const clock = createSystemClock();
  const { signal } = new AbortController();
  const end = clock.mono() + 60_000;
  while (!isSo()) {
    if (clock.mono() > end) throw new Error(`not within 60 s: ${what}`);
    await clock.sleep(2, signal);
  }
}
