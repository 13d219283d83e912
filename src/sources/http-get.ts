/** One GET of the static pod URL: within a limit, following redirects. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { CodedError } from '../base/errors.ts';
import { readWhole } from '../wire/http-body.ts';
import { awaitReply, type HttpReply } from '../wire/http-reply.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: Uint8Array;
}

export interface HttpGetOptions {
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly longestBody: number;
}

const MOST_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Meant for the configured server, and not sent to any other. */
const SECRETS = new Set(['authorization', 'cookie', 'cookie2', 'proxy-authorization', 'www-authenticate']);

/** Rejects with a coded error, or with the signal's reason. */
export async function httpGet(url: URL, options: HttpGetOptions, signal: AbortSignal): Promise<HttpAnswer> {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const headers = at.host === url.host ? options.headers : withoutSecrets(options.headers);
    const reply = await send(at, headers, signal);
    const status = reply.httpStatus;
    const location = REDIRECTS.has(status) ? reply.header('location') : undefined;
    if (location === undefined) {
      const body = await readWhole(reply, { mostBytes: options.longestBody, signal });
      return { status, etag: reply.header('etag'), body };
    }
    reply.cancel();
    at = redirectTarget(location, at);
  }
  throw new CodedError('invalid', `stopped after ${MOST_REDIRECTS} redirects`);
}

function redirectTarget(location: string, from: URL): URL {
  const next = URL.parse(location, from);
  if (next === null || !/^https?:$/.test(next.protocol))
    throw new CodedError('invalid', 'the server redirects to something that is not an HTTP URL');
  return next;
}

function withoutSecrets(headers: HttpGetOptions['headers']): HttpGetOptions['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRETS.has(name.toLowerCase())));
}

async function send(url: URL, headers: HttpGetOptions['headers'], signal: AbortSignal): Promise<HttpReply> {
  const options = {
    // A connection of its own: the next request comes in many seconds, if at all.
    agent: false,
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]])),
  };
  const outgoing = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
  outgoing.end();
  try {
    return await awaitReply(outgoing, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CodedError('unavailable', 'no answer', { cause });
  }
}
