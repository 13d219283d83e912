/**
 * Passes an upgraded connection on to the runtime's streaming server, byte for byte in both directions. Only the two ends
 * interpret the bytes as SPDY or WebSocket; nothing is buffered here beyond what a socket holds, so a slow reader slows its writer.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { CodedError, describeError } from '../../base/errors.ts';
import { readStart } from '../../wire/http-body.ts';
import { awaitUpgrade, type HttpReply, type UpgradeReply } from '../../wire/http-reply.ts';
import { type Answer, errorPage, type UpgradeExchange } from '../routes.ts';
import { hasBody, passedHeaders } from './rules/passed-headers.ts';

/** A refusal is a short text. */
const LONGEST_REFUSAL = 64 * 1024;
/** The most bytes that one direction may hold here: enough to continue to read while the last piece is being written. */
const MOST_HELD = 256 * 1024;
/** A client that has ended its side may still read; whether it does shows only when there is output. */
const SILENCE_AFTER_END_MS = 60_000;

/** Resolves when both directions are over. */
export async function passThrough(exchange: UpgradeExchange, url: string): Promise<void> {
  const { request, signal } = exchange;
  if (hasBody(request.headers)) {
    exchange.answer(errorPage(400, 'an upgrade can not have a body'));
    return;
  }
  const outcome = await askRuntime(exchange, url);
  if (outcome.kind === 'refused') {
    exchange.answer(outcome.answer);
    return;
  }
  const { response, socket: runtime, head } = outcome;
  if (signal.aborted || exchange.socket.destroyed) {
    runtime.destroy();
    return;
  }
  exchange.socket.write(headOf(response));
  await join({ client: exchange.socket, clientHead: exchange.head, runtime, runtimeHead: head, signal });
}

type Outcome = { readonly kind: 'refused'; readonly answer: Answer } | (UpgradeReply & { readonly kind: 'upgraded' });

async function askRuntime({ request, signal, log }: UpgradeExchange, location: string): Promise<Outcome> {
  try {
    const outcome = await awaitUpgrade(sendUpgrade(request, new URL(location)), signal);
    if (outcome.kind === 'upgraded') return outcome;
    return { kind: 'refused', answer: await readRefusal(outcome.reply, signal) };
  } catch (error) {
    if (!signal.aborted) log.error('Error while proxying request', { err: error });
    return { kind: 'refused', answer: errorPage(500, describeError(error)) };
  }
}

function sendUpgrade(request: IncomingMessage, url: URL): ClientRequest {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const client = request.socket.remoteAddress ?? '';
  const outgoing = send(url, {
    agent: false,
    method: request.method,
    headers: passedHeaders(request.rawHeaders, { host: url.host, client }),
    setDefaultHeaders: false,
    // It is on this node, with a self-signed certificate of the runtime; the address came from the runtime.
    rejectUnauthorized: false,
  });
  outgoing.end();
  return outgoing;
}

/** The runtime's own text of a refusal; an answer that is neither upgrade nor refusal is an error of the runtime. */
async function readRefusal(reply: HttpReply, signal: AbortSignal): Promise<Answer> {
  const { httpStatus: status } = reply;
  if (status < 400) {
    reply.cancel();
    throw new CodedError('internal', `invalid upgrade response: status code ${status}`);
  }
  const body = await readStart(reply, { mostBytes: LONGEST_REFUSAL, signal });
  const type = reply.header('content-type');
  return { status, body, ...(type === undefined ? {} : { type }) };
}

function headOf({ statusMessage, rawHeaders }: IncomingMessage): string {
  let head = `HTTP/1.1 101 ${statusMessage || 'Switching Protocols'}\r\n`;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return `${head}\r\n`;
}

interface Joined {
  readonly client: Socket;
  readonly clientHead: Buffer;
  readonly runtime: Socket;
  readonly runtimeHead: Buffer;
  readonly signal: AbortSignal;
}

/** The end of one direction is passed on; the other one continues until it ends too. An error ends both at once. */
async function join({ client, clientHead, runtime, runtimeHead, signal }: Joined): Promise<void> {
  const cut = () => {
    client.destroy();
    runtime.destroy();
  };
  client.setNoDelay(true);
  runtime.setNoDelay(true);
  signal.addEventListener('abort', cut, { once: true });
  client.on('error', cut);
  runtime.on('error', cut);
  // A client that has disconnected can't receive anything any more.
  client.once('close', cut);
  runtime.once('close', () => client.destroySoon());
  whenEnded(client, () => client.setTimeout(SILENCE_AFTER_END_MS, cut));
  if (clientHead.length > 0) runtime.write(clientHead);
  if (runtimeHead.length > 0) client.write(runtimeHead);
  pump(client, runtime);
  pump(runtime, client);
  await Promise.allSettled([finished(client), finished(runtime)]);
  signal.removeEventListener('abort', cut);
}

/**
 * Like `pipe`, but without waiting for each piece to be written before the next is read, which would halve the speed of a connection; and
 * the memory of each piece is freed when it is written, which saves megabytes that the garbage collector would free only much later.
 */
function pump(from: Socket, to: Socket): void {
  from.on('data', (piece: Buffer<ArrayBuffer>) => {
    const isTaken = to.write(piece, (error) => {
      if (!error) release(piece);
    });
    if (!isTaken && to.writableLength >= MOST_HELD) from.pause();
  });
  to.on('drain', () => from.resume());
  whenEnded(from, () => to.end());
}

/** It may have ended before the other side was connected. */
function whenEnded(socket: Socket, then: () => void): void {
  if (socket.readableEnded) then();
  else socket.once('end', then);
}

/** A socket reads each piece into its own memory; a piece that shares its memory with others is not freed. */
function release({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === byteLength) buffer.transfer(0);
}
