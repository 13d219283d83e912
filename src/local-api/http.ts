/** The routes of the local API's port: requests and watches, and the streams and logs of pods, which the kubelet's own endpoints serve. */
import { decodeObject } from '../api/object-decode.ts';
import { ANYTHING, struct } from '../api/object-schema.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import { createAlarm } from '../base/alarm.ts';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { readTree } from '../base/yaml-tree.ts';
import type { ExplainedPod } from '../model/explanation.ts';
import type { Answer, Exchange, Route, UpgradeExchange } from '../server/routes.ts';
import type { Api, ApiAnswer, ApiRequest } from './api.ts';
import { MANIFESTS, takeManifests } from './manifests.ts';
import { type Caller, checkAccess } from './rules/access.ts';
import { readProtobuf } from './rules/protobuf.ts';
import { badRequest, notFound, Refusal } from './rules/refusal.ts';
import { PODS } from './rules/resources.ts';
import { callerOf } from './rules/roles.ts';
import { chooseContainer, streamQuery } from './rules/stream-target.ts';
import type { Store } from './store.ts';
import { answerUsage, type UsageDeps } from './usage.ts';
import type { WatchEvent, WatchEvents } from './watches.ts';

export interface HttpDeps {
  readonly clock: Clock;
  readonly api: Api;
  readonly store: Store;
  readonly readBytes: (request: Exchange['request'], atMost: number) => Promise<Buffer>;
  /** Why a pod is as it is; undefined: the kubelet does not have it. */
  readonly explain: (namespace: string, name: string, signal: AbortSignal) => Promise<ExplainedPod | undefined>;
  /** The kubelet's own endpoints for exec, attach, portForward and containerLogs. */
  readonly endpoints: readonly Route[];
  /** The requests of this port, counted. */
  readonly metrics: { render(): string };
  /** What the node and its pods use, for `kubectl top`. */
  readonly summary: UsageDeps['summary'];
}

/** As much as the API server takes. */
const LARGEST_BODY = 3 << 20;
/** YAML takes a hundred times as long to read as JSON, and clients send JSON. */
const LARGEST_YAML = 256 << 10;
/** A watcher that reads nothing is cut off when this much waits for it. */
const MOST_WAITING = 4 << 20;
const BOOKMARK_EVERY_MS = 60_000;

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const ACCESS = { subresource: 'proxy', verb: 'method' } as const;

export function localApiRoutes(deps: HttpDeps): readonly Route[] {
  const shared = { access: ACCESS, port: 'secure', switch: 'always', longQuery: true } as const;
  const pod = '/api/v1/namespaces/{namespace}/pods/{pod}';
  return [
    ...(['exec', 'attach', 'portforward'] as const).map(
      (name): Route => ({
        ...shared,
        name: `local API ${name}`,
        methods: ['GET', 'POST'],
        pattern: `${pod}/${name}`,
        audited: true,
        handle: (exchange) => stream(deps, exchange, name, (inner, route) => route.handle(inner as Exchange)),
        upgrade: (exchange) => {
          if (refusesTunnel(exchange, name)) return;
          return stream(deps, exchange, name, (inner, route) => route.upgrade?.(inner as UpgradeExchange));
        },
      }),
    ),
    {
      ...shared,
      name: 'local API log',
      methods: ['GET'],
      pattern: `${pod}/log`,
      handle: (exchange) => stream(deps, exchange, 'log', (inner, route) => route.handle(inner as Exchange)),
    },
    {
      ...shared,
      name: 'local API explain',
      methods: ['GET'],
      pattern: '/explain/{namespace}/{pod}',
      handle: async (exchange) => exchange.answer(await explanationOf(deps, exchange)),
    },
    {
      ...shared,
      name: 'local API metrics',
      methods: ['GET'],
      pattern: '/metrics',
      handle: ({ answer }) => answer({ status: 200, type: METRICS_TYPE, body: deps.metrics.render() }),
    },
    {
      ...shared,
      name: 'local API manifests',
      methods: ['GET', 'POST'],
      pattern: MANIFESTS,
      handle: (exchange) => manifests(deps, exchange),
    },
    {
      ...shared,
      name: 'local API',
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      pattern: '/{path:*}',
      handle: (exchange) => handle(deps, exchange),
    },
  ];
}

/** A pod that was created a moment ago may have no explanation yet: then it is not found, as one that does not exist. */
async function explanationOf({ explain }: HttpDeps, { parameters, signal }: Exchange): Promise<Answer> {
  const { namespace = '', pod = '' } = parameters;
  const found = await explain(namespace, pod, signal);
  return found === undefined ? refused(notFound(PODS, pod)) : jsonAnswer(200, found);
}

/** GET lists the pods, in the form in which they can be sent again; POST takes manifests, several as YAML documents or as a list. */
async function manifests(deps: HttpDeps, exchange: Exchange): Promise<void> {
  const { request, query } = exchange;
  const caller = callerOf(exchange.user);
  const shared = { query, body: undefined, type: 'application/json', accept: 'application/json', caller };
  try {
    const answer =
      request.method === 'GET'
        ? await deps.api.handle({ ...shared, method: 'GET', path: '/api/v1/pods' })
        : await takeManifests(deps.api, caller, documentsOf(await deps.readBytes(request, LARGEST_BODY)));
    if (answer.kind === 'answer') exchange.answer(jsonAnswer(answer.status, answer.body));
  } catch (error) {
    exchange.answer(refused(error));
  }
}

/** One JSON text, or YAML with as many documents as it has. */
function documentsOf(bytes: Buffer): readonly unknown[] {
  if (/^\s*[[{]/.test(bytes.toString('utf8', 0, 1024))) return [parseBody(bytes, 'application/json').body];
  const texts = bytes.toString('utf8').split(/^---(?:\s.*)?$/m);
  return texts
    .filter((text) => text.trim() !== '')
    .map((text) => parseBody(Buffer.from(text), 'application/yaml').body);
}

async function answerTo(deps: HttpDeps, asked: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
  try {
    const body = await answerUsage(deps, asked, signal);
    if (body !== undefined) return { kind: 'answer', status: 200, body, warnings: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'answer', status: error.status.code ?? 500, body: error.status, warnings: [] };
  }
  return await deps.api.handle(asked);
}

async function handle(deps: HttpDeps, exchange: Exchange): Promise<void> {
  const { clock, readBytes } = deps;
  const { request, path, query, response } = exchange;
  const caller = callerOf(exchange.user);
  let body: Body;
  try {
    body = parseBody(await readBytes(request, LARGEST_BODY), contentType(request.headers['content-type']));
  } catch (error) {
    exchange.answer(refused(error));
    return;
  }
  const asked: ApiRequest = {
    ...{ method: request.method ?? '', path, query, caller, ...body },
    accept: (request.headers.accept ?? '').slice(0, 4096),
  };
  const answer = await answerTo(deps, asked, exchange.signal);
  if (answer.kind === 'bytes') exchange.answer({ status: 200, type: answer.type, body: answer.body });
  else if (answer.kind === 'watch') sendWatch(clock, exchange, answer.events);
  else if (!response.destroyed)
    exchange.answer({ ...jsonAnswer(answer.status, answer.body), ...warningHeader(answer.warnings) });
}

interface Body {
  readonly type: string;
  readonly body: unknown;
}

const contentType = (header = 'application/json'): string => (header.split(';')[0] ?? '').trim().toLowerCase();

function parseBody(bytes: Buffer, type: string): Body {
  if (bytes.length === 0) return { type, body: undefined };
  if (type.includes('protobuf')) return { type, body: readProtobuf(bytes) };
  const text = bytes.toString('utf8');
  try {
    return { type, body: JSON.parse(text) as unknown };
  } catch (error) {
    if (!type.includes('yaml')) throw badRequest(`the body of the request is not JSON: ${String(error).slice(0, 200)}`);
  }
  if (text.length > LARGEST_YAML)
    throw new Refusal(413, 'RequestEntityTooLarge', `YAML of more than ${LARGEST_YAML} bytes; send it as JSON`, {});
  const read = readTree(text);
  if ('problem' in read) throw badRequest(`the body of the request is not YAML: ${read.problem.text}`);
  const { tree } = read;
  const entry = { key: 'body', place: tree.place, value: tree };
  const { value } = decodeObject(struct({ body: ANYTHING }), { place: tree.place, kind: 'map', entries: [entry] });
  return { type, body: value['body'] };
}

const jsonAnswer = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

function refused(error: unknown): Answer {
  if (error instanceof Refusal) return jsonAnswer(error.status.code ?? 500, error.status);
  if (codeOf(error) !== 'exhausted') throw error;
  const { status } = new Refusal(
    413,
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${LARGEST_BODY}`,
    {},
  );
  return { ...jsonAnswer(413, status), headers: { Connection: 'close' } };
}

/** A header has one line: of many warnings the first are shown. */
const MOST_WARNINGS = 10;

function warningHeader(warnings: readonly string[]): Pick<Answer, 'headers'> {
  if (warnings.length === 0) return {};
  const lines = warnings.slice(0, MOST_WARNINGS).map(
    (text) =>
      `299 - "${text
        .replaceAll(/[^\x20-\x7e]/g, '?')
        .replaceAll(/["\\]/g, String.raw`\$&`)
        .slice(0, 300)}"`,
  );
  return { headers: { Warning: lines.join(', ') } };
}

function sendWatch(clock: Clock, { response, signal }: Exchange, events: WatchEvents): void {
  const write = (event: WatchEvent): void => {
    if (response.writableLength > MOST_WAITING) response.destroy();
    else if (!response.writableEnded) response.write(`${JSON.stringify(event)}\n`);
  };
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
  response.flushHeaders();
  const stop = events.follow(write);
  const bookmarks = createAlarm(clock, () => {
    write(events.bookmark());
    bookmarks.ringAt(clock.now() + BOOKMARK_EVERY_MS);
  });
  const end = (): void => {
    stop();
    bookmarks.clear();
    over.clear();
    response.end();
  };
  const over = createAlarm(clock, end);
  over.ringAt(clock.now() + events.timeoutMs);
  if (events.bookmarks) bookmarks.ringAt(clock.now() + BOOKMARK_EVERY_MS);
  signal.addEventListener('abort', end, { once: true });
}

type StreamName = 'exec' | 'attach' | 'portforward' | 'log';
const ENDPOINTS: Readonly<Record<StreamName, string>> = {
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
  log: 'containerLogs',
};

/** Finds the pod and container of a stream, and passes it to the endpoint that the kubelet has for it. */
async function stream(
  { store, endpoints }: HttpDeps,
  exchange: Exchange | UpgradeExchange,
  name: StreamName,
  pass: (exchange: Exchange | UpgradeExchange, route: Route) => Promise<void> | void,
): Promise<void> {
  try {
    const { namespace = '', pod = '' } = exchange.parameters;
    const caller: Caller = callerOf(exchange.user);
    checkAccess(caller, exchange.request.method ?? '', {
      kind: 'resource',
      resource: PODS,
      namespace,
      name: pod,
      subresource: name,
    });
    const found = store.get({ resource: PODS.plural, namespace, name: pod }) as unknown as Pod | undefined;
    if (found === undefined) throw notFound(PODS, pod);
    const isForward = name === 'portforward';
    const containers = allContainers(found).map((container) => container.name);
    const container = isForward ? '' : chooseContainer(found, containers, exchange.query.get('container') ?? '');
    const route = endpoints.find((one) => one.name === ENDPOINTS[name]);
    if (route === undefined) throw badRequest(`the kubelet does not serve ${name}`);
    const query = name === 'log' ? exchange.query : streamQuery(exchange.query, name);
    await pass({ ...exchange, query, parameters: { namespace, pod, ...(!isForward && { container }) } }, route);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    exchange.answer(refused(error));
  }
}

/** Port-forward through a WebSocket is a tunnel that an API server opens: the client then uses SPDY, as before. */
function refusesTunnel(exchange: UpgradeExchange, name: StreamName): boolean {
  const isTunnel = name === 'portforward' && exchange.request.headers.upgrade?.toLowerCase() === 'websocket';
  if (isTunnel) exchange.answer(refused(badRequest('the local API forwards ports over SPDY')));
  return isTunnel;
}
