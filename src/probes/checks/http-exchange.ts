/**
 * One GET on a connection of its own: no proxy, no keep-alive, certificates not looked at, HTTP/2 where a TLS server prefers it.
 * Node's own client is used below the connection, so that an error of connecting can be told from one of talking.
 */
import { request } from 'node:http';
import { type IncomingHttpHeaders, connect as openSession } from 'node:http2';
import { isIP, type Socket } from 'node:net';
import { connect as startTls, type TLSSocket } from 'node:tls';
import { CodedError } from '../../base/errors.ts';
import { quoteText } from '../../base/go-text.ts';
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

/** The answer had begun when it broke off: its status is no help without the rest. */
export class BrokenBody extends Error {}

/** The other side speaks HTTP where TLS was expected. */
export const PLAIN_HTTP = 'http: server gave HTTP response to HTTPS client';

const HEADERS_LIMIT = 1 << 20;

/** Rejects with the signal's reason (as the cause of a BrokenBody if the body had begun), or says what went wrong. */
export async function exchange(input: Exchange, signal: AbortSignal): Promise<Answer> {
  const { scheme, host, port } = input.target;
  const socket = await dial(host, port, signal);
  const onAbort = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (scheme === 'http') return await overHttp1(input, socket);
    const secured = await secure(socket, host);
    return secured.alpnProtocol === 'h2' ? await overHttp2(input, secured) : await overHttp1(input, secured);
  } catch (error) {
    if (!(error instanceof BrokenBody)) signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

function secure(socket: Socket, host: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = startTls({
      socket,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ['h2', 'http/1.1'],
      rejectUnauthorized: false,
      // Whoever doesn't look at certificates has no reason to refuse small keys.
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    secured.on('error', (cause) => reject(new CodedError('unavailable', tlsProblem(cause), { cause })));
    secured.once('secureConnect', () => resolve(secured));
    socket.once('close', () => reject(new CodedError('unavailable', 'EOF')));
  });
}

function tlsProblem(error: unknown): string {
  if (!isSystemError(error)) return String(error);
  // That is how OpenSSL calls a record that is none: here it is the text of an HTTP answer, as good as always.
  if (error.code === 'ERR_SSL_WRONG_VERSION_NUMBER') return PLAIN_HTTP;
  if (error.code === 'ECONNRESET') return 'EOF';
  return `remote error: tls: ${error.message}`;
}

function overHttp1({ target, headers, bodyLimit }: Exchange, socket: Socket): Promise<Answer> {
  const host = headers.host ?? joinHostPort(target.host, target.port);
  return new Promise((resolve, reject) => {
    const sent = request({
      method: 'GET',
      path: target.path,
      headers: [['Host', host], ...headers.others].flat(),
      setHost: false,
      createConnection: () => socket,
      maxHeaderSize: HEADERS_LIMIT,
      // Line ends and the like that other clients take as well.
      insecureHTTPParser: true,
    });
    const ends = endsOf(socket);
    let answered = false;
    sent.on('error', (cause) => {
      // Once there is an answer, whoever reads its body hears of it.
      if (answered) return;
      const problem = talkProblem({ ends, begun: socket.bytesRead > 0 }, cause);
      reject(new CodedError('unavailable', problem, { cause }));
    });
    sent.once('upgrade', ({ statusCode = 0 }) => resolve({ status: statusCode, location: undefined, body: '' }));
    sent.once('response', (response) => {
      answered = true;
      const { statusCode: status = 0, headers: received } = response;
      readBody(response, bodyLimit).then((body) => resolve({ status, location: received.location, body }), reject);
    });
    sent.end();
  });
}

function overHttp2({ target, headers, bodyLimit }: Exchange, socket: TLSSocket): Promise<Answer> {
  const authority = headers.host ?? joinHostPort(target.host, target.port);
  const own = headers.others.map(([name, value]) => [name.toLowerCase(), value]);
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) =>
      reject(new CodedError('unavailable', cause instanceof Error ? cause.message : 'EOF', { cause }));
    const session = openSession(`https://${authority}`, { createConnection: () => socket });
    session.on('error', fail);
    const stream = session.request({
      ':method': 'GET',
      ':path': target.path,
      ':authority': authority,
      ...Object.fromEntries(own),
    });
    stream.on('error', fail);
    stream.once('response', (received: IncomingHttpHeaders) => {
      const status = Number(received[':status']);
      readBody(stream, bodyLimit).then((body) => resolve({ status, location: received.location, body }), reject);
    });
    stream.once('close', () => fail(undefined));
    stream.end();
  });
}

interface Readable {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
}

/** The first bytes of a body; what comes after them is not waited for. */
function readBody(stream: Readable, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let held = 0;
    const finish = () => resolve(Buffer.concat(chunks).subarray(0, limit).toString('utf8'));
    stream.on('data', (chunk) => {
      chunks.push(chunk);
      held += chunk.length;
      if (held >= limit) finish();
    });
    stream.once('end', finish);
    stream.on('error', (cause) => reject(new BrokenBody('unexpected EOF', { cause })));
    stream.once('close', () => reject(new BrokenBody('unexpected EOF')));
  });
}

const BROKEN = 'net/http: HTTP/1.x transport connection broken:';

function talkProblem({ ends, begun }: { readonly ends: string; readonly begun: boolean }, error: unknown): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : String(error);
  if (error.code.startsWith('HPE_')) return `${BROKEN} ${parseProblem(error)}`;
  // Node's word for a connection that was closed before the answer.
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
