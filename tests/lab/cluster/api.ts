/**
 * Plain HTTPS to an API server, for tests: one request, or a watch. Not a client library, and on purpose not the product's own
 * client: what the lab says about a cluster must not depend on the code under test.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { Credentials } from './kubeconfig.ts';

/** As much of an API object as every one has. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string; readonly [field: string]: unknown };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly [field: string]: unknown;
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  /** JSON by default; a patch names its kind here. */
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  /** The body as JSON; an error where it is none. */
  json(): ApiObject;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: ApiObject;
}

export interface Api {
  /** Any answer is a value, also a refusal. Rejects only where no answer came. */
  request(path: string, request?: ApiRequest): Promise<ApiAnswer>;
  /** The body of a successful answer; everything else is an error with the server's message. */
  get(path: string): Promise<ApiObject>;
  create(path: string, object: unknown): Promise<ApiObject>;
  /** `path` is a collection with a query that selects what is watched. Ends when the server ends it or the signal aborts. */
  watch(path: string, signal: AbortSignal): AsyncIterable<WatchEvent>;
  close(): void;
}

export interface ApiDeps {
  /** Opens a connection to the server, which lives in a network namespace that this process is not in. */
  readonly connect: () => Promise<Socket>;
  /** Path of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly credentials: Credentials;
}

/** One of the names in the server's certificate: the connection itself is made by address. */
const SERVER_NAME = 'kubernetes';

export async function createApi(deps: ApiDeps): Promise<Api> {
  const agent = await createTlsAgent(deps);
  const authorization = 'token' in deps.credentials ? { authorization: `Bearer ${deps.credentials.token}` } : {};

  const open = async (path: string, request: ApiRequest): Promise<IncomingMessage> => {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const outgoing = startRequest({
      agent,
      path,
      method: request.method ?? 'GET',
      headers: {
        host: SERVER_NAME,
        accept: 'application/json',
        ...authorization,
        ...(body === undefined ? {} : bodyHeaders(body, request.contentType)),
      },
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const answered = once(outgoing, 'response');
    outgoing.end(body);
    return (await answered)[0] as IncomingMessage;
  };

  const api: Api = {
    request: async (path, request = {}) => {
      const response = await open(path, request);
      const body = await text(response);
      return { status: response.statusCode ?? 0, text: body, json: () => JSON.parse(body) as ApiObject };
    },
    get: async (path) => expectSuccess('GET', path, await api.request(path)),
    create: async (path, object) =>
      expectSuccess('POST', path, await api.request(path, { method: 'POST', body: object })),
    watch: (path, signal) => watch(open, path, signal),
    close: () => agent.destroy(),
  };
  return api;
}

/** The length is always told: for a DELETE Node would send the body without any, and it would be read as the next request. */
function bodyHeaders(body: string, contentType = 'application/json') {
  return { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
}

function expectSuccess(method: string, path: string, answer: ApiAnswer): ApiObject {
  if (answer.status >= 200 && answer.status < 300) return answer.json();
  throw new Error(`${method} ${path}: ${answer.status} ${answer.text.trim()}`);
}

async function* watch(
  open: (path: string, request: ApiRequest) => Promise<IncomingMessage>,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const response = await open(`${path}${path.includes('?') ? '&' : '?'}watch=true`, { signal });
  if (response.statusCode !== 200) throw new Error(`watch of ${path}: ${response.statusCode} ${await text(response)}`);
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line) as WatchEvent;
  } finally {
    response.destroy();
  }
}

async function createTlsAgent(deps: ApiDeps): Promise<Agent> {
  const { credentials } = deps;
  const ca = await readFile(deps.ca);
  const own =
    'token' in credentials ? {} : { cert: await readFile(credentials.cert), key: await readFile(credentials.key) };
  const secure = (socket: Socket) => connectTls({ socket, ca, ...own, servername: SERVER_NAME });
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = (_options, done) => {
    deps.connect().then(
      (socket) => done?.(null, secure(socket)),
      (error: Error) => done?.(error, new Duplex()), // beside an error no one reads the stream
    );
    return undefined;
  };
  return agent;
}
