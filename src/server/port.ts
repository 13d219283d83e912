/** One listening port: limits for clients that are slow, many or malicious, and an orderly end. */
import { constants } from 'node:crypto';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionLimits, Connections } from './connections.ts';
import type { TlsOptions } from './rules/tls-options.ts';
import type { Serve } from './serve.ts';
import type { TlsMaterial } from './tls/key-pairs.ts';

export interface Address {
  readonly address: string;
  readonly port: number;
}

export interface Port {
  listen(): Promise<Error | undefined>;
  /** New certificates for new connections; connections with the old ones are closed when they are next idle. */
  renew?(material: TlsMaterial): void;
  close(): Promise<void>;
  /** The number of the port, for tests that listen on any free one. */
  number(): number;
}

export interface PortLimits extends ConnectionLimits {
  /** Bytes of request line and headers of a client with a valid certificate. */
  readonly largestHead: number;
  /** And of all other clients: the head is held in memory before the caller is authenticated. */
  readonly largestStrangerHead: number;
  readonly headWithinMs: number;
  readonly requestWithinMs: number;
  /** How often late clients are checked for. */
  readonly checkEveryMs: number;
}

export const DEFAULT_LIMITS: PortLimits = {
  // As in the reference: the command of an exec is in the request line.
  largestHead: 1 << 20,
  largestStrangerHead: 64 << 10,
  headWithinMs: 10_000,
  requestWithinMs: 60_000,
  checkEveryMs: 5000,
  // Each follower of a log is one: far above the needs of a node's pods, far below what would harm the node.
  mostConnections: 4096,
  // An API server may open hundreds at once; a handshake takes about 100 KB until its client is authenticated.
  mostUnauthenticated: 1536,
  mostUnauthenticatedOfAddress: 768,
};

/** For the ports without TLS, which serve a few short pages to unauthenticated callers. */
export const PLAIN_LIMITS: PortLimits = {
  ...DEFAULT_LIMITS,
  largestHead: 16 << 10,
  largestStrangerHead: 16 << 10,
  mostConnections: 256,
  mostUnauthenticated: 256,
  mostUnauthenticatedOfAddress: 128,
};

/** Equal to the keep-alive of Go's client, so that neither side closes first. */
const KEEP_IDLE_MS = 90_000;
const HANDSHAKE_WITHIN_MS = 10_000;
const MOST_HEADERS = 200;
/** Detects a dead client although nothing is sent. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** The handlers of a port, and the connections that both count. */
export interface Served {
  readonly serve: Serve;
  readonly connections: Connections;
}

export function plainPort(address: Address, served: Served, limits: PortLimits): Port {
  return createPort(createHttpServer(serverOptions(served.serve, limits)), address, served);
}

export interface SecureRequest {
  readonly tls: TlsOptions;
  readonly material: TlsMaterial;
  readonly limits: PortLimits;
  /** Called after each connection has closed. */
  readonly onEnd: () => void;
}

export function securePort(address: Address, served: Served, { tls, material, limits, onEnd }: SecureRequest): Port {
  const server = createHttpsServer({
    ...serverOptions(served.serve, limits),
    ...secureOptions(tls, material),
    // Authentication decides for each request; the handshake only verifies the certificate.
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_WITHIN_MS,
    // Unlike a plain server, one with TLS would end its side with the client's, although a stream may still have output.
    allowHalfOpen: true,
    ALPNProtocols: ['http/1.1'],
  });
  // Scanners and half-open connections: not worth a log line.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('secureConnection', (socket: TLSSocket) => socket.once('close', onEnd));
  const renewal = trackGenerations(server);
  const port = createPort(server, address, served);
  // Before Node's own listener, which creates the parser of the connection with the size that is set here.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    served.connections.secured(socket, socket.authorized);
    Object.assign(server, { maxHeaderSize: socket.authorized ? limits.largestHead : limits.largestStrangerHead });
  });
  return {
    ...port,
    renew: (next) => {
      server.setSecureContext(secureOptions(tls, next));
      renewal.next();
      server.closeIdleConnections();
    },
  };
}

function serverOptions(
  serve: Serve,
  limits: PortLimits,
): ServerOptions & { shouldUpgradeCallback: (request: IncomingMessage) => boolean } {
  return {
    maxHeaderSize: limits.largestStrangerHead,
    headersTimeout: limits.headWithinMs,
    requestTimeout: limits.requestWithinMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    keepAliveTimeout: KEEP_IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    insecureHTTPParser: false,
    requireHostHeader: true,
    shouldUpgradeCallback: serve.takesUpgrade,
  };
}

function secureOptions({ minVersion, ciphers, ecdhCurve }: TlsOptions, { certificate, key, clientCa }: TlsMaterial) {
  return {
    minVersion,
    ciphers,
    ecdhCurve,
    honorCipherOrder: true,
    ...(certificate === '' ? {} : { cert: certificate, key }),
    // Without a configured CA none is trusted, not even the ones that come with Node.
    ca: clientCa === undefined ? [] : [clientCa],
    // A resumed session would keep the verdict about a client from before a change of the CA.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Connections with certificates from before a renewal are closed after their current answer. */
function trackGenerations(server: HttpsServer): { next(): void } {
  let generation = 0;
  const made = new WeakMap<Socket, number>();
  server.on('secureConnection', (socket: TLSSocket) => made.set(socket, generation));
  server.prependListener('request', ({ socket }, response) => {
    if (made.get(socket) !== generation) response.setHeader('Connection', 'close');
    response.once('finish', () => {
      if (made.get(socket) !== generation) socket.destroySoon();
    });
  });
  return {
    next: () => {
      generation += 1;
    },
  };
}

function createPort(
  server: HttpServer | HttpsServer,
  { address, port }: Address,
  { serve, connections }: Served,
): Port {
  server.maxHeadersCount = MOST_HEADERS;
  admitFirst(server, connections);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const over = connections.began(request.socket);
    if (over === undefined) return;
    response.once('close', over);
    serve.request(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Node hands the socket over without a listener: an error would end the process.
    socket.on('error', () => socket.destroy());
    // The answers to earlier requests would be mixed with the bytes of the stream.
    const over = connections.began(socket, 0);
    if (over === undefined) return;
    socket.once('close', over);
    serve.upgrade(request, socket, head);
  });
  // A CONNECT request: the kubelet is no proxy.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => socket.destroy());
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseClient(error, socket));
  return {
    listen: () =>
      new Promise((resolve) => {
        // Neither listener may remain: a port in use is retried again and again.
        const settle = (failure?: Error) => {
          server.removeListener('error', settle);
          server.removeListener('listening', settle);
          resolve(failure);
        };
        server.once('error', settle);
        server.once('listening', settle);
        server.listen({ host: address, port });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        connections.closeAll();
      }),
    number: () => {
      const bound = server.address();
      return typeof bound === 'object' && bound !== null ? bound.port : 0;
    },
  };
}

/** Node's own listeners, which begin the handshake or create a parser, get only the connections that the limits allow. */
function admitFirst(server: HttpServer | HttpsServer, connections: Connections): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket)) return;
    for (const listener of listeners) listener.call(server, socket);
  });
}

const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Input that the strict parser refuses is answered once, then the connection is closed: nothing after it is read. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = REFUSALS[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`);
  socket.setTimeout(1000, () => socket.destroy());
}
