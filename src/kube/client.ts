/** Requests to the API server: headers, deadline, rate limit, the retries that the server asks for, and what the answer means. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { withDeadline } from '../base/signal.ts';
import type { HttpReply } from '../wire/http-reply.ts';
import { readText } from './body.ts';
import type { Connections } from './connections.ts';
import type { Credentials } from './credentials.ts';
import type { KubeClient, KubeErrorData, KubeRequest } from './kube.ts';
import type { Limiter, Urgency } from './limiter.ts';
import type { Call } from './link.ts';
import type { Reachability } from './reachability.ts';
import { parseRetryAfter, refusalError } from './rules/answers.ts';

/** One HTTP exchange, for metrics. `code` is the status, or `<error>` if there was no answer. */
export interface RequestRecord {
  readonly verb: string;
  readonly host: string;
  readonly code: string;
  readonly durationMs: number;
  /** The answer's Date header. */
  readonly date?: string | undefined;
  /** How long the rate limit delayed it. */
  readonly waitedMs: number;
  readonly requestBytes: number;
  /** From the answer's Content-Length; undefined if there is none. */
  readonly answerBytes: number | undefined;
}

export interface ClientDeps {
  readonly clock: Clock;
  readonly connections: Connections;
  readonly credentials: Credentials;
  readonly limiter: Limiter;
  readonly reachability: Pick<Reachability, 'answered' | 'failed'>;
  readonly onRequest: (record: RequestRecord) => void;
}

export interface ClientConfig {
  readonly host: string;
  /** Prefix of every path. */
  readonly basePath: string;
  readonly userAgent: string;
  /** For requests without a timeout of their own. */
  readonly timeoutMs: number;
}

export interface Client extends KubeClient {
  /** A successful answer whose body is still to be read; errors are those of `request`. */
  stream(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpReply>;
}

const MOST_BYTES = 256 << 20;
const MOST_RETRIES = 4;
const LONGEST_RETRY_AFTER_MS = 30_000;
const PATCH_TYPES = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

export function createClient(deps: ClientDeps, config: ClientConfig): Client {
  const exchange = createExchange(deps, config);
  return {
    request: async <Answer>(request: KubeRequest, signal: AbortSignal): Promise<Answer> => {
      const what = `${request.method} ${request.path}`;
      const timeoutMs = request.timeoutMs ?? config.timeoutMs;
      const deadline = deps.clock.mono() + timeoutMs;
      using limit = withDeadline(deps.clock, timeoutMs, what, signal);
      const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
      const call: Omit<Call, 'headers'> = {
        method: request.method,
        path: pathOf(config, request.path, request.query),
        body,
        endless: false,
      };
      const headers = contentHeaders(request);
      const urgency = request.urgent === true ? 'urgent' : 'request';
      const reply = await exchange({ what, call, headers, urgency, deadline }, limit.signal);
      return parseAnswer<Answer>(what, reply, await readText(reply, { mostBytes: MOST_BYTES, signal: limit.signal }));
    },
    stream: async (path, query, signal) => {
      const what = `GET ${path}`;
      // Until the answer begins; the caller decides how long it may last.
      using limit = withDeadline(deps.clock, config.timeoutMs, what, signal);
      const call = { method: 'GET', path: pathOf(config, path, query), body: undefined, endless: true };
      const deadline = deps.clock.mono() + config.timeoutMs;
      return await exchange({ what, call, headers: {}, urgency: 'watch', deadline }, limit.signal);
    },
  };
}

function pathOf({ basePath }: ClientConfig, path: string, query: KubeRequest['query'] = {}): string {
  const search = new URLSearchParams(query).toString();
  return `${basePath}${path}${search === '' ? '' : `?${search}`}`;
}

function contentHeaders({ method, body, patch = 'strategic' }: KubeRequest): OutgoingHttpHeaders {
  if (body === undefined) return {};
  return { 'content-type': method === 'PATCH' ? PATCH_TYPES[patch] : 'application/json' };
}

function parseAnswer<Answer>(what: string, reply: HttpReply, text: string): Answer {
  const isJson = reply.header('content-type')?.includes('json') ?? true;
  if (!isJson || text === '') return text as Answer;
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    throw new CodedError('unavailable', `${what}: the answer is not JSON`, { cause });
  }
}

interface Exchange {
  readonly what: string;
  readonly call: Omit<Call, 'headers'>;
  readonly headers: OutgoingHttpHeaders;
  readonly urgency: Urgency;
  /** Monotonic: there are no retries after it. */
  readonly deadline: number;
}

/** An exchange that the rate limit has let through. */
interface Turned extends Exchange {
  readonly waitedMs: number;
}

/** Resolves with a successful answer. Retries only if the server asks for it. */
function createExchange(deps: ClientDeps, config: ClientConfig) {
  const { clock, limiter, credentials, reachability } = deps;
  const once = createAttempt(deps, config);
  return async (exchange: Exchange, signal: AbortSignal): Promise<HttpReply> => {
    const { what } = exchange;
    for (let retries = 0, replaced = false; ; retries += 1) {
      const startedAt = clock.mono();
      await limiter.pass(exchange.urgency, signal);
      const waitedMs = clock.mono() - startedAt;
      const login = await credentials.headers(signal);
      const reply = await once({ ...exchange, waitedMs }, login, signal);
      if (reply.httpStatus >= 200 && reply.httpStatus < 300) {
        reachability.answered();
        return reply;
      }
      const error = await refusalOf(what, reply, signal);
      if (reply.httpStatus >= 500) reachability.failed(error);
      else reachability.answered();
      if (error.code === 'unauthenticated' && !replaced) {
        replaced = true;
        if (await credentials.replace(login, signal)) continue;
      }
      const wait = retryWait(error);
      if (wait === undefined || retries >= MOST_RETRIES || clock.mono() + wait > exchange.deadline) throw error;
      await clock.sleep(wait, signal);
    }
  };
}

async function refusalOf(what: string, reply: HttpReply, signal: AbortSignal): Promise<CodedError> {
  const body = await readText(reply, { mostBytes: MOST_BYTES, signal });
  const retryAfterMs = parseRetryAfter(reply.header('retry-after'));
  return refusalError({ what, httpStatus: reply.httpStatus, body, retryAfterMs });
}

/** How long to wait before the retry that the server asks for; undefined if it asks for none. */
function retryWait(error: CodedError): number | undefined {
  const { httpStatus, retryAfterMs } = error.data as KubeErrorData;
  if (retryAfterMs === undefined || (httpStatus !== 429 && httpStatus !== 503)) return undefined;
  return retryAfterMs <= LONGEST_RETRY_AFTER_MS ? retryAfterMs : undefined;
}

function createAttempt({ clock, connections, reachability, onRequest }: ClientDeps, config: ClientConfig) {
  const { host, userAgent } = config;
  return async (exchange: Turned, login: OutgoingHttpHeaders, signal: AbortSignal): Promise<HttpReply> => {
    const { what, call, headers, waitedMs } = exchange;
    const started = clock.mono();
    const requestBytes = call.body?.length ?? 0;
    const record = (code: string, reply?: HttpReply) => {
      const length = reply?.header('content-length');
      onRequest({
        verb: call.method,
        host,
        code,
        durationMs: clock.mono() - started,
        date: reply?.header('date'),
        waitedMs,
        requestBytes,
        answerBytes: length === undefined ? undefined : Number(length),
      });
    };
    const all = { accept: 'application/json', 'user-agent': userAgent, ...headers, ...login };
    try {
      const reply = await connections.open({ ...call, headers: all }, signal);
      record(String(reply.httpStatus), reply);
      return reply;
    } catch (error) {
      record('<error>');
      if (signal.aborted) {
        if (codeOf(signal.reason) === 'deadline') reachability.failed(signal.reason);
        throw signal.reason;
      }
      reachability.failed(error);
      throw new CodedError('unavailable', what, { cause: error });
    }
  };
}
