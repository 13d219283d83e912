/** A check by gRPC's health service, over plain HTTP/2. */
import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { formatDuration } from '../../api/duration.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import { withDeadline } from '../../base/signal.ts';
import { decode } from '../../wire/decode.ts';
import { encode } from '../../wire/encode.ts';
import { Health, HealthCheckResponseServingStatus as Serving } from '../../wire/gen/grpc-health-v1.ts';
import { FrameReader, frame } from '../../wire/grpc-frames.ts';
import { decodeGrpcMessage, GRPC_OK, grpcError } from '../../wire/grpc-status.ts';
import { failure, type Outcome, refusal, success } from '../rules/outcome.ts';
import { joinHostPort } from '../rules/target.ts';
import { dial } from './dial.ts';

export interface GrpcCheck {
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

const LARGEST_ANSWER = 4 * 1024 * 1024;
/** A server that is just coming up is tried again within the timeout. */
const DIAL_AGAIN_MS = 100;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const UNKNOWN = 2;

export async function checkGrpc(clock: Clock, check: GrpcCheck, signal: AbortSignal): Promise<Outcome> {
  const allowed = formatDuration(check.timeoutMs);
  using limit = withDeadline(clock, check.timeoutMs, 'gRPC check', signal);
  let session: ClientHttp2Session;
  try {
    session = await openSession(clock, check, limit.signal);
  } catch {
    signal.throwIfAborted();
    const address = quoteText(joinHostPort(check.host, check.port));
    return failure(`timeout: failed to connect service ${address} within ${allowed}: context deadline exceeded`);
  }
  try {
    return judge(await ask(session, check, limit.signal));
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return failure(`timeout: health rpc did not complete within ${allowed}`);
    return failure(describe(error));
  } finally {
    session.destroy();
  }
}

function judge(status: number): Outcome {
  if (status === Serving.SERVING) return success('service healthy');
  const [name = String(status)] = Object.entries(Serving).find(([, number]) => number === status) ?? [];
  return refusal(`service unhealthy (responded with ${quoteText(name)})`);
}

function describe(error: unknown): string {
  if (error instanceof CodedError && error.data['grpcStatus'] === UNIMPLEMENTED) {
    const { grpcMessage } = error.data;
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${grpcMessage}`;
  }
  return `error: health rpc probe failed: ${error instanceof Error ? error.message : error}`;
}

/** A connection to a server that has answered in HTTP/2. Retries until the signal aborts. */
async function openSession(clock: Clock, check: GrpcCheck, signal: AbortSignal): Promise<ClientHttp2Session> {
  for (;;) {
    try {
      return await greet(check, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await clock.sleep(DIAL_AGAIN_MS, signal);
    }
  }
}

async function greet({ host, port }: GrpcCheck, signal: AbortSignal): Promise<ClientHttp2Session> {
  const socket = await dial(host, port, signal);
  return new Promise((resolve, reject) => {
    const session = connect(`http://${joinHostPort(host, port)}`, { createConnection: () => socket });
    const onAbort = () => session.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    const fail = (cause?: unknown) => {
      signal.removeEventListener('abort', onAbort);
      reject(new CodedError('unavailable', 'the connection was closed', { cause }));
    };
    // Later errors reach the stream; without a listener here they would end the process.
    session.on('error', fail);
    session.once('close', fail);
    session.once('remoteSettings', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(session);
    });
  });
}

function ask(session: ClientHttp2Session, { service, userAgent }: GrpcCheck, signal: AbortSignal): Promise<number> {
  const { path, request, response } = Health.check;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      'user-agent': userAgent,
      te: 'trailers',
    });
    const onAbort = () => stream.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    let status: number | undefined;
    let closing: IncomingHttpHeaders | undefined;
    let problem: unknown;
    const reader = new FrameReader(path, LARGEST_ANSWER, (bytes) => {
      status = decode(response, bytes).status;
    });
    stream.once('response', (headers) => {
      closing = headers;
      problem = strangeAnswer(path, headers);
      if (problem !== undefined) stream.destroy();
    });
    stream.once('trailers', (headers) => {
      closing = headers;
    });
    stream.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        problem = error;
        stream.destroy();
      }
    });
    stream.on('error', (error) => {
      problem ??= error;
    });
    stream.once('close', () => {
      signal.removeEventListener('abort', onAbort);
      problem ??= closingProblem(path, closing);
      if (problem === undefined && status !== undefined) resolve(status);
      else reject(problem ?? grpcError(path, UNKNOWN, 'no answer'));
    });
    stream.end(frame(encode(request, { service })));
  });
}

/** What the HTTP status of an answer that is not gRPC's stands for, in gRPC's numbers. */
const FOR_HTTP_STATUS: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: UNIMPLEMENTED,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: UNAVAILABLE,
};

/** The problem with an answer that does not come from a gRPC server. */
function strangeAnswer(path: string, headers: IncomingHttpHeaders): CodedError | undefined {
  const status = Number(headers[':status']);
  const type = headers['content-type'] ?? '';
  if (status !== 200) {
    const shown = `${status} (${STATUS_CODES[status] ?? ''})`;
    const message = `unexpected HTTP status code received from server: ${shown}`;
    return grpcError(path, FOR_HTTP_STATUS[status] ?? UNKNOWN, message);
  }
  if (type.startsWith('application/grpc')) return undefined;
  return grpcError(path, UNKNOWN, `received unexpected content-type ${quoteText(type)}`);
}

/** The error in the closing headers, if any. */
function closingProblem(path: string, headers: IncomingHttpHeaders | undefined): CodedError | undefined {
  if (headers === undefined) return grpcError(path, UNAVAILABLE, 'the connection was closed before an answer');
  const status = headers['grpc-status'];
  if (status === undefined) return grpcError(path, UNKNOWN, 'the answer ended without a status');
  if (Number(status) === GRPC_OK) return undefined;
  return grpcError(path, Number(status), decodeGrpcMessage(String(headers['grpc-message'] ?? '')));
}
