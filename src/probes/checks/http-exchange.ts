/**
 * One GET on a connection of its own: no proxy, no keep-alive, certificates not checked, HTTP/2 where a TLS server prefers it.
 * The connection is opened first, so that an error of connecting can be distinguished from one of the exchange.
 */
import { request } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  connect as openSession,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { CodedError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
import { readStart } from '../../wire/http-body.ts';
import { awaitUpgrade, type HttpReply } from '../../wire/http-reply.ts';
import { startTls } from '../../wire/open-socket.ts';
import { type HttpTarget, joinHostPort, type RequestHeaders } from '../rules/target.ts';
import { dial, endsOf, isSystemError, readProblem } from './dial.ts';

export interface Exchange {
  readonly target: HttpTarget;
  readonly headers: RequestHeaders;
  readonly bodyLimit: number;
}

export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/** The answer broke off in its body: its status counts for nothing then. */
export class BrokenBody extends Error {}

/** The server speaks HTTP where TLS was expected. */
export const PLAIN_HTTP = 'http: server gave HTTP response to HTTPS client';

const HEADERS_LIMIT = 1 << 20;

/** Rejects with the signal's reason (as the cause of a BrokenBody if the body had begun), or with an error that says what failed. */
export async function exchange(input: Exchange, signal: AbortSignal): Promise<Answer> {
  const { scheme, host, port } = input.target;
  const socket = await dial(host, port, signal);
  try {
    if (scheme === 'http') return await overHttp1(input, socket, signal);
    const secured = await secure(socket, host, signal);
    const over = secured.alpnProtocol === 'h2' ? overHttp2 : overHttp1;
    return await over(input, secured, signal);
  } catch (error) {
    if (!(error instanceof BrokenBody)) signal.throwIfAborted();
    throw error;
  } finally {
    socket.destroy();
  }
}

async function secure(socket: Socket, host: string, signal: AbortSignal): Promise<TLSSocket> {
  try {
    return await startTls(
      {
        socket,
        host,
        ALPNProtocols: ['h2', 'http/1.1'],
        rejectUnauthorized: false,
        // Certificates are not checked, so small keys are no reason to refuse one.
        ciphers: 'DEFAULT@SECLEVEL=0',
      },
      signal,
    );
  } catch (cause) {
    throw new CodedError('unavailable', tlsProblem(cause), { cause });
  }
}

function tlsProblem(error: unknown): string {
  if (!isSystemError(error)) return String(error);
  // OpenSSL's name for a record that is none: here it is nearly always the text of an HTTP answer.
  if (error.code === 'ERR_SSL_WRONG_VERSION_NUMBER') return PLAIN_HTTP;
  if (error.code === 'ECONNRESET') return 'EOF';
  return `remote error: tls: ${error.message}`;
}

async function overHttp1({ target, headers, bodyLimit }: Exchange, socket: Socket, signal: AbortSignal) {
  const host = headers.host ?? joinHostPort(target.host, target.port);
  const ends = endsOf(socket);
  const sent = request({
    method: 'GET',
    path: target.path,
    headers: [['Host', host], ...headers.others].flat(),
    setHost: false,
    createConnection: () => socket,
    maxHeaderSize: HEADERS_LIMIT,
    // Line ends and the like that other clients accept as well.
    insecureHTTPParser: true,
  });
  sent.end();
  const head = await awaitUpgrade(sent, signal).catch((cause: unknown) => {
    const problem = talkProblem({ ends, begun: socket.bytesRead > 0 }, cause);
    throw new CodedError('unavailable', problem, { cause });
  });
  if (head.kind === 'upgraded') return { status: head.response.statusCode ?? 0, location: undefined, body: '' };
  const { reply } = head;
  const body = await readBody(reply, bodyLimit, signal);
  return { status: reply.httpStatus, location: reply.header('location'), body };
}

async function overHttp2({ target, headers, bodyLimit }: Exchange, socket: TLSSocket, signal: AbortSignal) {
  const authority = headers.host ?? joinHostPort(target.host, target.port);
  const own = headers.others.map(([name, value]) => [name.toLowerCase(), value]);
  const session = openSession(`https://${authority}`, { createConnection: () => socket });
  const stream = session.request({
    ':method': 'GET',
    ':path': target.path,
    ':authority': authority,
    ...Object.fromEntries(own),
  });
  stream.end();
  const received = await awaitHeaders(session, stream, signal);
  const body = await readBody({ body: stream, cancel: () => stream.destroy() }, bodyLimit, signal);
  return { status: Number(received[':status']), location: received.location, body };
}

function awaitHeaders(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  signal: AbortSignal,
): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    const onAbort = () => session.destroy();
    const settle = () => signal.removeEventListener('abort', onAbort);
    const fail = (cause?: unknown) => {
      settle();
      reject(new CodedError('unavailable', cause instanceof Error ? cause.message : 'EOF', { cause }));
    };
    // These stay: an error without any listener would end the process.
    session.on('error', fail);
    stream.on('error', fail);
    stream.once('close', fail);
    stream.once('response', (headers) => {
      settle();
      resolve(headers);
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function readBody(
  reply: Pick<HttpReply, 'body' | 'cancel'>,
  limit: number,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await readStart(reply, { mostBytes: limit, signal })).toString('utf8');
  } catch (cause) {
    throw new BrokenBody('unexpected EOF', { cause });
  }
}

const BROKEN = 'net/http: HTTP/1.x transport connection broken:';

function talkProblem({ ends, begun }: { readonly ends: string; readonly begun: boolean }, error: unknown): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : String(error);
  if (error.code.startsWith('HPE_')) return `${BROKEN} ${parseProblem(error)}`;
  // Node's code for a connection that was closed before the answer.
  if (error.code === 'ECONNRESET' && error.syscall === undefined) return begun ? `${BROKEN} unexpected EOF` : 'EOF';
  return readProblem(ends, error);
}

function parseProblem(error: Error): string {
  const raw = 'rawPacket' in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : '';
  const [line = ''] = raw.split(/\r?\n/);
  const [, version, status] = /^(\S*) +(\S*)/.exec(line) ?? [];
  if (version === undefined || status === undefined) return `malformed HTTP response ${quoteText(line)}`;
  if (!/^\d{3}$/.test(status)) return `malformed HTTP status code ${quoteText(status)}`;
  return /^HTTP\/\d\.\d$/.test(version) ? error.message : `malformed HTTP version ${quoteText(version)}`;
}
