/** Who gets in where: every endpoint of the real table with every kind of client. A new endpoint is in here by itself. */

import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { type Config, readConfig } from '../config/config.ts';
import { createHealthChecks } from '../server/health/checks.ts';
import type { Route } from '../server/routes.ts';
import {
  ask,
  createFakeReviews,
  createTestPki,
  type FakeReviews,
  startTestServer,
  type TestAsk,
  type TestPki,
} from '../server/testing.ts';
import { createEventLoopLag } from '../telemetry/event-loop-lag.ts';
import type { PartDeps } from './compose.ts';
import { composeMetrics } from './metrics.ts';
import { composeRoutes } from './server.ts';

const REACHED = 'reached';

function configOf(): Config {
  const outcome = readConfig(['--config=/kubelet.json', '--kubeconfig=/x'], {
    readTextFile: () =>
      JSON.stringify({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        containerRuntimeEndpoint: 'unix:///x.sock',
      }),
    listDir: () => [],
    workingDirectory: '/',
    terminalWidth: () => 80,
    build: { nodeVersion: 'v0', platform: 'linux/test' },
    machine: () => ({ onlineCpus: [0], numaNodes: [0], memoryBytes: 2n ** 32n, cgroupVersion: 2 }),
  });
  assert.equal(outcome.kind, 'ready', JSON.stringify(outcome));
  return (outcome as Extract<typeof outcome, { kind: 'ready' }>).config;
}

/** The routes of a kubelet; what they would do is left out: here it only matters whether they are reached. */
function everyRoute(): readonly Route[] {
  const config = configOf();
  const untouched = new Proxy({}, { get: (_target, name) => () => assert.fail(`${String(name)} was used`) });
  const deps = {
    clock: createSystemClock(),
    log: createSilentLogger(),
    supervisor: createTestSupervisor(createSystemClock()),
    host: { files: { inotify: untouched, guarded: untouched }, own: untouched, cgroups: untouched },
    nodeName: 'n',
  } as unknown as PartDeps;
  const pods = () => assert.fail('pods were asked for');
  const meters = composeMetrics(config, deps, { pods, mirrorPods: () => 0, eventLoopLag: createEventLoopLag() });
  const runtime = { streams: untouched, containers: untouched, sandboxes: untouched };
  const served = { pods: untouched, statuses: untouched };
  const tools = { kube: undefined, cri: runtime, running: untouched, served, meters };
  const routes = composeRoutes(config, deps, {
    ...tools,
    health: createHealthChecks(),
    shown: () => config,
  } as unknown as Parameters<typeof composeRoutes>[2]);
  return routes.map(reaching);
}

function reaching(route: Route): Route {
  return {
    ...route,
    handle: ({ answer }) => answer({ status: 200, body: REACHED }),
    ...(route.upgrade && {
      upgrade: ({ socket }) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    }),
  };
}

/** A path that fits. */
const pathOf = ({ pattern }: Route) => pattern.replace(/\{\w+(:\*)?\}/g, 'x');

const routes = everyRoute();
const cases = routes.flatMap((route) => [
  ...route.methods.map((method) => ({ route, method, headers: {} })),
  ...(route.upgrade ? [{ route, method: 'GET', headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' } }] : []),
]);

type Outcome = 'in' | 401 | 403 | 500;

interface Row {
  readonly who: string;
  readonly as: (pki: TestPki) => Partial<TestAsk>;
  readonly outcome: Outcome;
  readonly anonymous?: boolean;
  readonly prepare?: (reviews: FakeReviews) => void;
}

const ROWS: readonly Row[] = [
  { who: 'no credentials', as: () => ({}), outcome: 401 },
  { who: 'a certificate of another CA', as: ({ clients }) => ({ pem: clients.wrongCa }), outcome: 401 },
  { who: 'an expired certificate', as: ({ clients }) => ({ pem: clients.expired }), outcome: 401 },
  { who: 'a certificate from the future', as: ({ clients }) => ({ pem: clients.early }), outcome: 401 },
  { who: 'a certificate of a server', as: ({ clients }) => ({ pem: clients.wrongUse }), outcome: 401 },
  { who: 'a certificate without a name', as: ({ clients }) => ({ pem: clients.nameless }), outcome: 401 },
  { who: 'an unknown token', as: () => ({ token: 'who' }), outcome: 401 },
  { who: 'a password', as: () => ({ headers: { authorization: 'Basic YWRtaW46YWRtaW4=' } }), outcome: 401 },
  { who: 'a user without rights, by certificate', as: ({ clients }) => ({ pem: clients.nobody }), outcome: 403 },
  { who: 'a user without rights, by token', as: () => ({ token: 'nobody-token' }), outcome: 403 },
  { who: 'an administrator, by certificate', as: ({ clients }) => ({ pem: clients.admin }), outcome: 'in' },
  { who: 'an administrator, by token', as: () => ({ token: 'admin-token' }), outcome: 'in' },
  {
    who: 'an administrator with a certificate of another CA and a good token',
    as: ({ clients }) => ({ pem: clients.wrongCa, token: 'admin-token' }),
    outcome: 'in',
  },
  {
    who: 'no credentials, where anonymous callers are let in but have no rights',
    as: () => ({}),
    anonymous: true,
    outcome: 403,
  },
  {
    who: 'no credentials, where anonymous callers may',
    as: () => ({}),
    anonymous: true,
    prepare: ({ rights }) => void rights.add('system:anonymous'),
    outcome: 'in',
  },
  {
    who: 'a bad certificate, where anonymous callers may',
    as: ({ clients }) => ({ pem: clients.expired }),
    anonymous: true,
    prepare: ({ rights }) => void rights.add('system:anonymous'),
    outcome: 401,
  },
  {
    who: 'a bad token, where anonymous callers may',
    as: () => ({ token: 'who' }),
    anonymous: true,
    prepare: ({ rights }) => void rights.add('system:anonymous'),
    outcome: 401,
  },
  {
    who: 'an administrator by certificate, with the API server away',
    as: ({ clients }) => ({ pem: clients.admin }),
    prepare: (reviews) => {
      reviews.away = true;
    },
    outcome: 500,
  },
  {
    who: 'an administrator by token, with the API server away',
    as: () => ({ token: 'admin-token' }),
    prepare: (reviews) => {
      reviews.away = true;
    },
    outcome: 401,
  },
];

describe('who may use the endpoints', () => {
  let pki: TestPki;
  before(async () => {
    pki = await createTestPki();
  });
  after(() => pki.remove());

  it('knows every endpoint', () => {
    const names = [...new Set(routes.map(({ name }) => name))].sort();
    for (const name of [
      'attach',
      'configz',
      'containerLogs',
      'evictions',
      'exec',
      'explain',
      'flags',
      'flagz',
      'healthz',
      'metrics',
      'pods',
      'portForward',
      'pprof',
      'run',
      'runningpods',
      'stats',
      'statusz',
    ])
      assert.ok(names.includes(name), `${name} is not among ${names}`);
  });

  for (const { who, as, outcome, anonymous = false, prepare } of ROWS) {
    it(`${who}: ${outcome}, on each of them`, async () => {
      const reviews = createFakeReviews();
      prepare?.(reviews);
      await using running = await startTestServer(pki, routes, reviews, { anonymous });
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const port = running.server.ports().secure;
      await Promise.all(
        cases.map(async ({ route, method, headers }) => {
          const credentials = as(pki);
          const request = {
            ...credentials,
            method,
            path: pathOf(route),
            agent,
            headers: { ...headers, ...credentials.headers },
          };
          const { status, body } = await ask(port, pki.ca, request);
          const what = `${method} ${route.pattern} ${JSON.stringify(headers)}: ${status} ${body}`;
          if (outcome !== 'in') assert.equal(status, outcome, what);
          else if ('upgrade' in headers) assert.equal(status, 101, what);
          else assert.deepEqual([status, method === 'HEAD' ? REACHED : body], [200, REACHED], what);
          if (outcome === 401 && method !== 'HEAD') assert.equal(body, 'Unauthorized');
        }),
      );
      agent.destroy();
    });
  }

  it('asks for the right of each endpoint: fine-grained ones first, create for what enters a process', async () => {
    const seen = new Map<string, string>();
    for (const { route, method, headers } of cases) {
      const reviews = createFakeReviews();
      await using running = await startTestServer(pki, [route], reviews);
      const answer = await ask(running.server.ports().secure, pki.ca, {
        token: 'nobody-token',
        method,
        path: pathOf(route),
        headers,
      });
      const rights = reviews.reviewed.map(({ verb, subresource }) => `${verb} ${subresource}`).join(', ');
      seen.set(`${method} ${route.name}${'upgrade' in headers ? ' upgrade' : ''}`, rights);
      if (method === 'HEAD') continue;
      const [verb] = rights.split(' ');
      const words = reviews.reviewed.map(({ subresource }) => subresource).join(' ');
      assert.equal(answer.body, `Forbidden (user=nobody, verb=${verb}, resource=nodes, subresource(s)=[${words}])\n`);
    }
    const expected: Readonly<Record<string, string>> = {
      'GET pods': 'get pods, get proxy',
      'GET runningpods': 'get pods, get proxy',
      'GET evictions': 'get pods, get proxy',
      'GET explain': 'get pods, get proxy',
      'GET healthz': 'get healthz, get proxy',
      'GET configz': 'get configz, get proxy',
      'GET flagz': 'get configz',
      'GET statusz': 'get statusz',
      'GET metrics': 'get metrics',
      'GET containerLogs': 'get proxy',
      'GET pprof': 'get proxy',
      'GET heap': 'create proxy',
      'POST heap': 'create proxy',
      'PUT flags': 'update proxy',
      'GET exec': 'create proxy',
      'POST exec': 'create proxy',
      'GET exec upgrade': 'create proxy',
      'GET attach upgrade': 'create proxy',
      'GET portForward upgrade': 'create proxy',
      'POST run': 'create proxy',
    };
    for (const [what, rights] of Object.entries(expected)) assert.equal(seen.get(what), rights, what);
  });

  it('goes by the method for streams where the switch says so', async () => {
    const reviews = createFakeReviews();
    reviews.rights.add('nobody get proxy');
    await using running = await startTestServer(pki, routes, reviews, { streamsByMethod: true });
    const { status } = await ask(running.server.ports().secure, pki.ca, { token: 'nobody-token', path: '/exec/x/x/x' });
    assert.equal(status, 200);
    assert.deepEqual(reviews.reviewed.at(-1), { user: 'nobody', verb: 'get', subresource: 'proxy' });
  });

  it('lets a revoked token in until its time is up, and a denied user as soon as the denial is old', async () => {
    const reviews = createFakeReviews();
    await using running = await startTestServer(pki, routes, reviews);
    const status = async (token: string) =>
      (await ask(running.server.ports().secure, pki.ca, { token, path: '/pods' })).status;
    assert.deepEqual([await status('admin-token'), await status('nobody-token')], [200, 403]);
    reviews.tokens.delete('admin-token');
    reviews.rights.add('nobody');
    assert.deepEqual([await status('admin-token'), await status('nobody-token')], [200, 403]);
    running.later(30_001);
    assert.deepEqual([await status('admin-token'), await status('nobody-token')], [200, 200]);
    running.later(90_000);
    assert.equal(await status('admin-token'), 401);
    // Rights that were given are remembered for longer: five minutes.
    reviews.rights.clear();
    assert.equal(await status('nobody-token'), 200);
    running.later(300_000);
    assert.equal(await status('nobody-token'), 403);
  });

  it('asks once for many requests at once, and for each token', async () => {
    const reviews = createFakeReviews();
    await using running = await startTestServer(pki, routes, reviews);
    const one = () => ask(running.server.ports().secure, pki.ca, { token: 'admin-token', path: '/pods' });
    const answers = await Promise.all(Array.from({ length: 20 }, one));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.ok(reviews.count <= 4, `${reviews.count} reviews`);
  });
});
