/** gRPC calls (unary, server-streaming) to a Unix socket. Errors are CodedErrors; an abort rejects with its own reason. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf, type ErrorCode } from '../base/errors.ts';
import { type LinkedSignal, linkSignal, withDeadline } from '../base/signal.ts';
import { type Connection, createConnection, type Link } from './connection.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { parseUnixEndpoint } from './endpoint.ts';
import { FrameReader, frame } from './grpc-frames.ts';
import { decodeGrpcMessage, GRPC_OK, grpcError } from './grpc-status.ts';
import type { Init, MethodType } from './message.ts';

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Milliseconds until the call is given up on both sides; none if left out. */
  readonly deadline?: number | undefined;
  /** Headers that the peer needs beside those of gRPC, in lower case. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface StreamOptions<O> extends CallOptions {
  /** Runs for each message as it arrives. It must not wait for anything: a slow reader can stall the peer. */
  readonly onMessage: (message: O) => void;
}

export interface GrpcClient {
  unary<I, O>(method: MethodType<I, O>, request: Init<I>, options: CallOptions): Promise<O>;
  /** Resolves when the server ends the stream well. */
  serverStream<I, O>(method: MethodType<I, O>, request: Init<I>, options: StreamOptions<O>): Promise<void>;
  /** Ends the connection; what is under way fails as `unavailable`. */
  close(): Promise<void>;
}

export interface CallReport {
  readonly path: string;
  readonly ms: number;
  /** Undefined if it went well; `aborted` if the caller took it back, which is no failure. */
  readonly code: ErrorCode | 'aborted' | undefined;
}

export interface GrpcClientOptions {
  /** `unix:///path` or `/path` */
  readonly endpoint: string;
  readonly clock: Clock;
  /** Largest message taken. */
  readonly maxMessageBytes?: number | undefined;
  readonly onCall?: ((report: CallReport) => void) | undefined;
  /** A better code for errors that this peer reports too vaguely; others are returned as they are. */
  readonly refine?: ((error: unknown) => unknown) | undefined;
}

const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export function createGrpcClient(options: GrpcClientOptions): GrpcClient {
  const { endpoint, clock, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, onCall, refine } = options;
  const connection = createConnection({ path: parseUnixEndpoint(endpoint), clock });

  const call = async (
    path: string,
    body: Buffer,
    { signal, deadline, metadata }: CallOptions,
    onFrame: (bytes: Buffer) => void,
  ) => {
    using limit: LinkedSignal =
      deadline === undefined ? linkSignal(signal) : withDeadline(clock, deadline, path, signal);
    const started = clock.mono();
    let code: CallReport['code'];
    try {
      const headers = { ...metadata, ...requestHeaders(path, deadline) };
      await exchange(connection, {
        path,
        headers,
        body,
        signal: limit.signal,
        reader: new FrameReader(path, maxMessageBytes, onFrame),
      });
    } catch (raw) {
      const error = refine?.(raw) ?? raw;
      code = signal.aborted ? 'aborted' : codeOf(error);
      throw error;
    } finally {
      onCall?.({ path, ms: clock.mono() - started, code });
    }
  };

  return {
    unary: async (method, request, callOptions) => {
      const { path } = method;
      const answers: ReturnType<typeof method.response.zero>[] = [];
      const onFrame = (bytes: Buffer) => answers.push(decode(method.response, bytes));
      await call(path, frame(encode(method.request, request)), callOptions, onFrame);
      const [answer] = answers;
      if (answer === undefined || answers.length > 1)
        throw new CodedError('internal', `${path}: ${answers.length} answers instead of one`);
      return answer;
    },
    serverStream: async (method, request, callOptions) => {
      const onFrame = (bytes: Buffer) => callOptions.onMessage(decode(method.response, bytes));
      await call(method.path, frame(encode(method.request, request)), callOptions, onFrame);
    },
    close: () => connection.close(),
  };
}

function requestHeaders(path: string, deadline: number | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'kubelet-ts',
  };
  if (deadline !== undefined) headers['grpc-timeout'] = timeoutHeader(deadline);
  return headers;
}

/** At most 8 digits and a unit. */
export function timeoutHeader(ms: number): string {
  const whole = Math.max(Math.ceil(ms), 1);
  return whole < 1e8 ? `${whole}m` : `${Math.min(Math.ceil(whole / 1000), 99_999_999)}S`;
}

interface Exchange {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
  readonly reader: FrameReader;
}

async function exchange(connection: Connection, request: Exchange): Promise<void> {
  const link = await connection.link(request.signal);
  const received = link.received();
  try {
    await runStream(link, request);
  } catch (error) {
    if (wasRefused(error)) {
      // The peer promises that it has not looked at the call: it was about to go, or is new.
      connection.retire(link);
      await runStream(await connection.link(request.signal), request);
      return;
    }
    // Not one byte came in all that time: is the peer only slow with this call, or is no one there any more?
    if (request.signal.aborted && codeOf(error) === 'deadline' && link.received() === received)
      connection.suspect(link);
    throw error;
  }
}

function runStream(link: Link, { path, headers, body, signal, reader }: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason;
    let stream: ClientHttp2Stream;
    try {
      stream = link.session.request(headers);
    } catch (cause) {
      // The session ended between the look at it and its use.
      throw new CodedError('unavailable', `${path}: the connection is gone`, { cause });
    }
    let status: IncomingHttpHeaders | undefined;
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else {
        reject(error);
        if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
      }
    };
    const attempt = (step: () => void) => {
      try {
        step();
      } catch (error) {
        settle(error);
      }
    };
    const onAbort = () => settle(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stream.on('response', (answer) => {
      if (answer['grpc-status'] !== undefined) status = answer;
      attempt(() => checkResponse(path, answer));
    });
    stream.on('trailers', (trailers) => {
      status = trailers;
    });
    stream.on('data', (chunk: Buffer) => attempt(() => reader.push(chunk)));
    stream.on('error', (cause) => settle(lost(path, cause, stream.rstCode)));
    stream.on('close', () => {
      if (status === undefined) settle(lost(path, undefined, stream.rstCode));
      else attempt(() => settle(finish(path, status, reader)));
    });
    stream.end(body);
  });
}

function lost(path: string, cause: unknown, resetCode: number | undefined): CodedError {
  if (cause instanceof CodedError) return new CodedError(cause.code, `${path}: the connection was given up`, { cause });
  const data = { path, resetCode };
  return new CodedError('unavailable', `${path}: the connection was lost before an answer`, { cause, data });
}

function wasRefused(error: unknown): boolean {
  return error instanceof CodedError && error.data['resetCode'] === constants.NGHTTP2_REFUSED_STREAM;
}

function checkResponse(path: string, headers: IncomingHttpHeaders): void {
  const type = headers['content-type'] ?? '';
  if ((headers[':status'] as unknown) === 200 && type.startsWith('application/grpc')) return;
  throw new CodedError(
    'internal',
    `${path}: not a gRPC answer (HTTP status ${headers[':status']}, content type "${type}")`,
  );
}

/** The error in the closing headers, if any. */
function finish(path: string, headers: IncomingHttpHeaders | undefined, reader: FrameReader): CodedError | undefined {
  const text = String(headers?.['grpc-status']);
  const status = /^\d+$/.test(text) ? Number(text) : 2;
  if (status === GRPC_OK) {
    reader.end();
    return undefined;
  }
  return grpcError(path, status, decodeGrpcMessage(String(headers?.['grpc-message'] ?? '')));
}
