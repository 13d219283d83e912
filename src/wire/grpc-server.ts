/** A gRPC server (unary, server-streaming) on a Unix socket. */
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createSocketServer } from 'node:net';
import { CodedError } from '../base/errors.ts';
import { withoutAuthority } from './authority.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { parseUnixEndpoint } from './endpoint.ts';
import { FrameReader, frame } from './grpc-frames.ts';
import { encodeGrpcMessage, GRPC_OK, statusOf } from './grpc-status.ts';
import type { Init, MethodType } from './message.ts';

export interface ServerCall {
  /** Aborts when the client cancels or goes away, or the server closes. */
  readonly signal: AbortSignal;
  /** The client's `grpc-timeout` in milliseconds: the client keeps it itself by cancelling. */
  readonly timeout: number | undefined;
}

/** Resolves when the client has taken the message in; rejects when it has gone. */
type SendBytes = (message: Uint8Array) => Promise<void>;

export interface Handler {
  readonly path: string;
  handle(request: Buffer, send: SendBytes, call: ServerCall): Promise<void>;
}

export function unaryHandler<I, O>(
  method: MethodType<I, O>,
  answer: (request: I, call: ServerCall) => Promise<Init<O>> | Init<O>,
): Handler {
  return {
    path: method.path,
    handle: async (request, send, call) => {
      await send(encode(method.response, await answer(decode(method.request, request), call)));
    },
  };
}

export function streamHandler<I, O>(
  method: MethodType<I, O>,
  run: (request: I, send: (message: Init<O>) => Promise<void>, call: ServerCall) => Promise<void>,
): Handler {
  return {
    path: method.path,
    handle: (request, send, call) =>
      run(decode(method.request, request), (message) => send(encode(method.response, message)), call),
  };
}

export interface GrpcServer {
  /** `unix:///path` or `/path`; the file must not exist yet. */
  listen(endpoint: string): Promise<void>;
  /** Stops listening and ends all calls. */
  close(): Promise<void>;
}

const LARGEST_REQUEST = 16 * 1024 * 1024;

export function createGrpcServer(handlers: readonly Handler[]): GrpcServer {
  const byPath = new Map(handlers.map((handler) => [handler.path, handler]));
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    // A client that breaks off is its own affair; without a listener the error would end the process.
    session.on('error', () => session.destroy());
  });
  const listener = createSocketServer((socket) => server.emit('connection', withoutAuthority(socket)));
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => serve(stream, headers, byPath));
  return {
    listen: (endpoint) =>
      new Promise((resolve, reject) => {
        const path = parseUnixEndpoint(endpoint);
        listener.once('error', (cause) => reject(new CodedError('unavailable', `cannot listen on ${path}`, { cause })));
        listener.listen(path, resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, byPath: ReadonlyMap<string, Handler>): void {
  const gone = new AbortController();
  const path = headers[':path'] ?? '';
  const requests: Buffer[] = [];
  // Chunks belong to Node; a request outlives its event, so it is copied.
  const reader = new FrameReader(path, LARGEST_REQUEST, (bytes) => requests.push(Buffer.from(bytes)));
  stream.on('close', () => gone.abort(new CodedError('unavailable', `${path}: the client has gone`)));
  stream.on('error', () => stream.destroy());
  stream.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      finish(stream, error);
    }
  });
  stream.on('end', () => {
    const call = { signal: gone.signal, timeout: parseTimeout(headers['grpc-timeout']) };
    run(stream, requests, byPath.get(path), call).then(
      () => finish(stream),
      (error: unknown) => finish(stream, error),
    );
  });
}

async function run(
  stream: ServerHttp2Stream,
  requests: readonly Buffer[],
  handler: Handler | undefined,
  call: ServerCall,
): Promise<void> {
  const [request] = requests;
  if (handler === undefined) throw new CodedError('unsupported', 'unknown method');
  if (request === undefined || requests.length > 1)
    throw new CodedError('invalid', `${requests.length} requests instead of one`);
  await handler.handle(request, (message) => send(stream, message, call.signal), call);
}

function send(stream: ServerHttp2Stream, message: Uint8Array, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (gone.aborted) {
      reject(gone.reason);
      return;
    }
    if (!stream.headersSent)
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.write(frame(message), (error) => {
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}

function finish(stream: ServerHttp2Stream, error?: unknown): void {
  if (stream.closed || stream.destroyed || stream.writableEnded) return;
  const { status, message } = error === undefined ? { status: GRPC_OK, message: '' } : statusOf(error);
  const closing = { 'grpc-status': String(status), 'grpc-message': encodeGrpcMessage(message) };
  if (!stream.headersSent) {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...closing }, { endStream: true });
    return;
  }
  stream.once('wantTrailers', () => stream.sendTrailers(closing));
  stream.end();
}

const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

function parseTimeout(header: string | string[] | undefined): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(String(header ?? ''));
  return match === null ? undefined : Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1);
}
