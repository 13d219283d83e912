/** The paths of the page's port: the page itself, what it shows, and for those who have logged in logs, a shell and the end of a pod. */
import { randomBytes } from 'node:crypto';
import type { Answer, Exchange, Route, UpgradeExchange, User } from '../server/routes.ts';
import { type CadvisorPages, cadvisorRoutes } from './cadvisor-api.ts';
import type { Feed, Send } from './feed.ts';
import type { KeptSeries } from './history.ts';
import { DATA_HEADERS, pageHeaders } from './rules/headers.ts';

export interface PageFacts {
  readonly nodeName: string;
  readonly version: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly osImage: string;
  /** Whether anyone can log in here. */
  readonly login: boolean;
}

export interface PageRoutesDeps {
  readonly feed: Pick<Feed, 'join' | 'history'>;
  readonly facts: PageFacts;
  readonly uidOf: (namespace: string, name: string) => string | undefined;
  readonly images: (signal: AbortSignal) => Promise<readonly object[]>;
  readonly settings: () => readonly object[];
  readonly evictions: () => readonly object[];
  /** Answers with cAdvisor's metrics. */
  readonly sendMetrics: Route['handle'];
  readonly cadvisor: CadvisorPages;
  /** The user of a request that needs one; undefined: it has no valid token. */
  readonly login: (request: Exchange['request'], signal: AbortSignal) => Promise<User | undefined>;
  readonly mayWrite: (user: User) => boolean;
  /** The kubelet's own endpoints for exec and containerLogs. */
  readonly endpoints: readonly Route[];
  /** Ends a pod; undefined: pods of this node are not ended here. */
  readonly remove: ((namespace: string, name: string) => Promise<Answer>) | undefined;
  /** A file of the page; undefined: there is none of that name. */
  readonly asset: (name: string) => Promise<Uint8Array | undefined>;
}

const SHARED = { access: { subresource: 'proxy', verb: 'method' }, port: 'both', switch: 'always' } as const;
const POD = '{namespace}/{pod}';

export function pageRoutes(deps: PageRoutesDeps): readonly Route[] {
  const get = (name: string, pattern: string, handle: Route['handle']): Route => ({
    ...SHARED,
    ...{ name, pattern, handle, methods: ['GET', 'HEAD'] },
  });
  const data = (name: string, pattern: string, find: (exchange: Exchange) => unknown): Route =>
    get(name, pattern, async (exchange) => exchange.answer(dataAnswer(await find(exchange))));
  return [
    get('page', '/', (exchange) => sendPage(deps, exchange)),
    get('page file', '/page/files/{name}', (exchange) => sendFile(deps, exchange)),
    get('page stream', '/page/stream', (exchange) => sendStream(deps, exchange)),
    data('page images', '/page/images', ({ signal }) => deps.images(signal)),
    data('page settings', '/page/settings', deps.settings),
    data('page evictions', '/page/evictions', deps.evictions),
    get('page metrics', '/metrics', deps.sendMetrics),
    ...cadvisorRoutes(deps.cadvisor, data),
    ...userRoutes(deps),
  ];
}

const dataAnswer = (value: unknown): Answer => ({
  ...(value === undefined ? { status: 404, body: 'not found' } : { status: 200, body: JSON.stringify(value) }),
  type: value === undefined ? 'text/plain; charset=utf-8' : 'application/json',
  headers: DATA_HEADERS,
});

const NONCE_BYTES = 16;

async function sendPage({ asset }: PageRoutesDeps, { answer }: Exchange): Promise<void> {
  const page = await asset('index.html');
  if (page === undefined) {
    answer({ status: 404, body: 'this build of the kubelet has no page', headers: DATA_HEADERS });
    return;
  }
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const body = Buffer.from(page).toString('utf8').replaceAll('{{nonce}}', nonce);
  answer({ status: 200, body, type: 'text/html; charset=utf-8', headers: pageHeaders(nonce) });
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

async function sendFile({ asset }: PageRoutesDeps, { answer, parameters }: Exchange): Promise<void> {
  const name = parameters['name'] ?? '';
  const type = TYPES[name.split('.').at(-1) ?? ''];
  const body = type !== undefined && /^[a-z0-9.-]{1,64}$/i.test(name) ? await asset(name) : undefined;
  if (body === undefined || type === undefined) answer(dataAnswer(undefined));
  else answer({ status: 200, body, type, headers: { ...DATA_HEADERS, 'Cache-Control': 'no-cache' } });
}

/** A page that reads nothing is cut off when this much waits for it. */
const MOST_WAITING = 4 << 20;
/** And gets no more samples from here on: the newest is all that counts. */
const ENOUGH_WAITING = 256 << 10;

interface Hello {
  readonly facts: PageFacts;
  readonly history: KeptSeries;
  readonly podHistory?: KeptSeries;
}

function sendStream({ feed, facts, uidOf }: PageRoutesDeps, { response, query, signal, request }: Exchange): void {
  const pod = query.get('pod') ?? undefined;
  response.writeHead(200, {
    ...DATA_HEADERS,
    'Content-Type': 'text/event-stream',
    'X-Content-Type-Options': 'nosniff',
  });
  if (request.method === 'HEAD') return void response.end();
  const write = (name: string, message: unknown): void => {
    if (response.destroyed || (name === 'sample' && response.writableLength > ENOUGH_WAITING)) return;
    if (response.writableLength > MOST_WAITING) response.destroy();
    else response.write(`event: ${name}\ndata: ${JSON.stringify(message)}\n\n`);
  };
  const [namespace = '', name = ''] = (pod ?? '').split('/');
  const podHistory = feed.history.pod(uidOf(namespace, name) ?? '');
  const hello: Hello = { facts, history: feed.history.node(), ...(podHistory && { podHistory }) };
  write('hello', hello);
  const leave = feed.join({ pod, send: write as Send });
  signal.addEventListener('abort', leave, { once: true });
}

const UNAUTHORIZED: Answer = {
  ...{ status: 401, body: 'Unauthorized', headers: { ...DATA_HEADERS, Connection: 'close' } },
};
const FORBIDDEN: Answer = { status: 403, body: 'This token may only read', headers: DATA_HEADERS };

function userRoutes(deps: PageRoutesDeps): readonly Route[] {
  /** Calls only for a user with a valid token, and with the right to change something where that is needed. */
  const asUser = async <Kind extends Exchange | UpgradeExchange>(
    exchange: Kind,
    needs: 'read' | 'write',
    then: (exchange: Kind, user: User) => Promise<void> | void,
  ): Promise<void> => {
    const user = await deps.login(exchange.request, exchange.signal);
    if (user === undefined) exchange.answer(UNAUTHORIZED);
    else if (needs === 'write' && !deps.mayWrite(user)) exchange.answer(FORBIDDEN);
    else await then({ ...exchange, user }, user);
  };
  const endpoint = (name: string) => deps.endpoints.find((route) => route.name === name);
  const noUpgrade: Answer = { status: 400, body: 'Upgrade request required', headers: DATA_HEADERS };
  return [
    {
      ...{ ...SHARED, name: 'page login', pattern: '/page/login', methods: ['GET'] },
      handle: (exchange) =>
        asUser(exchange, 'read', ({ answer }, user) =>
          answer(dataAnswer({ name: user.name, mayWrite: deps.mayWrite(user) })),
        ),
    },
    {
      ...{ ...SHARED, name: 'page logs', pattern: `/page/logs/${POD}/{container}`, methods: ['GET'] },
      handle: (exchange) => asUser(exchange, 'read', (inner) => endpoint('containerLogs')?.handle(inner)),
    },
    {
      ...{ ...SHARED, name: 'page exec', pattern: `/page/exec/${POD}/{container}`, methods: ['GET'] },
      audited: true,
      longQuery: true,
      handle: (exchange) => exchange.answer(noUpgrade),
      upgrade: (exchange) => asUser(exchange, 'write', (inner) => endpoint('exec')?.upgrade?.(inner)),
    },
    {
      ...{ ...SHARED, name: 'page delete', pattern: `/page/delete/${POD}`, methods: ['POST'] },
      audited: true,
      handle: (exchange) =>
        asUser(exchange, 'write', async ({ answer, parameters: { namespace = '', pod = '' } }) => {
          const { remove } = deps;
          if (remove === undefined) answer({ status: 501, body: 'pods of this node are not ended here' });
          else answer(await remove(namespace, pod));
        }),
    },
  ];
}
