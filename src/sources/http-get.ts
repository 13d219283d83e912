/** One GET with everything that can go wrong with it: a deadline, a limit, redirects, and answers that are no answer. */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { CodedError } from '../base/errors.ts';

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
/** Meant for the server that was asked, and no one else. */
const SECRETS = new Set(['authorization', 'cookie', 'cookie2', 'proxy-authorization', 'www-authenticate']);

/** Rejects with a coded error, or with the signal's reason. */
export async function httpGet(url: URL, options: HttpGetOptions, signal: AbortSignal): Promise<HttpAnswer> {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const headers = at.host === url.host ? options.headers : withoutSecrets(options.headers);
    const response = await ask(at, headers, signal);
    const status = response.statusCode ?? 0;
    const location = REDIRECTS.has(status) ? response.headers.location : undefined;
    if (location === undefined) {
      return { status, etag: response.headers.etag, body: await readBody(response, options.longestBody, signal) };
    }
    response.destroy();
    at = nextPlace(location, at);
  }
  throw new CodedError('invalid', `stopped after ${MOST_REDIRECTS} redirects`);
}

function nextPlace(location: string, from: URL): URL {
  const next = URL.parse(location, from);
  if (next === null || !/^https?:$/.test(next.protocol))
    throw new CodedError('invalid', 'redirected to what is no web address');
  return next;
}

function withoutSecrets(headers: HttpGetOptions['headers']): HttpGetOptions['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRETS.has(name.toLowerCase())));
}

function ask(url: URL, headers: HttpGetOptions['headers'], signal: AbortSignal): Promise<IncomingMessage> {
  const options: RequestOptions = {
    // A connection of its own: the next question comes in many seconds, if at all.
    agent: false,
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]])),
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.on('response', resolve);
    request.on('error', (error) => reject(failure(error, signal)));
    request.end();
  });
}

async function readBody(response: IncomingMessage, longest: number, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > longest) throw new CodedError('invalid', `the answer is longer than ${longest} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw failure(error, signal);
  }
  if (!response.complete) throw new CodedError('unavailable', 'the connection was cut in the middle of the answer');
  return Buffer.concat(chunks);
}

function failure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof CodedError ? error : new CodedError('unavailable', 'no answer', { cause: error });
}
