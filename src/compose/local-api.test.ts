/** Who may use which path of the local API's port: every route, by everyone who might come. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createSupervisor } from '../base/supervise.ts';
import { localApiRoutes } from '../local-api/http.ts';
import { createTestApi } from '../local-api/testing.ts';
import { readBytes } from '../server/body.ts';
import type { Route } from '../server/routes.ts';
import { createServer } from '../server/server.ts';
import { createMetrics } from '../telemetry/metrics.ts';

const USERS: Readonly<Record<string, { name: string; groups: readonly string[] }>> = {
  full: { name: 'local-administrator', groups: ['system:masters'] },
  reader: { name: 'local-reader', groups: ['kubelet-ts:readers'] },
};
const POD = '/api/v1/namespaces/default/pods/a';
/** Method, path, and the status for the reader and for the administrator. */
const MATRIX: readonly (readonly [string, string, number, number])[] = [
  ['GET', '/', 200, 200],
  ['GET', '/version', 200, 200],
  ['GET', '/healthz', 200, 200],
  ['GET', '/apis', 200, 200],
  ['GET', '/openapi/v3', 200, 200],
  ['GET', '/metrics', 200, 200],
  ['GET', '/pods', 200, 200],
  ['POST', '/pods', 422, 200],
  ['GET', '/explain/default/a', 200, 200],
  ['GET', '/.well-known/openid-configuration', 200, 200],
  ['GET', '/openid/v1/jwks', 200, 200],
  ['GET', '/apis/metrics.k8s.io/v1beta1/pods', 200, 200],
  ['GET', '/api/v1/pods', 200, 200],
  ['GET', POD, 200, 200],
  ['GET', `${POD}/log`, 200, 200],
  ['GET', `${POD}/exec`, 403, 200],
  ['POST', `${POD}/exec`, 403, 200],
  ['GET', `${POD}/attach`, 403, 200],
  ['POST', `${POD}/attach`, 403, 200],
  ['GET', `${POD}/portforward`, 403, 200],
  ['PATCH', `${POD}/resize`, 403, 415],
  ['PATCH', `${POD}/ephemeralcontainers`, 403, 415],
  ['PUT', `${POD}/status`, 403, 200],
  ['POST', `${POD}/eviction`, 403, 201],
  ['GET', '/api/v1/secrets', 403, 200],
  ['GET', '/api/v1/secrets?watch=1&timeoutSeconds=1', 403, 200],
  ['GET', '/api/v1/namespaces/default/secrets/x', 403, 404],
  ['POST', '/api/v1/namespaces/default/serviceaccounts/default/token', 403, 201],
  ['POST', '/api/v1/namespaces/default/configmaps', 403, 422],
  ['DELETE', '/api/v1/namespaces/default/configmaps', 403, 200],
  ['DELETE', '/api/v1/nodes/x', 403, 404],
];

async function open(t: TestContext) {
  const { api, store, ask } = await createTestApi();
  const spec = { containers: [{ name: 'main', image: 'i' }] };
  await ask('POST /api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec });
  const clock = createSystemClock();
  const log = createSilentLogger();
  const directory = mkdtempSync(join(tmpdir(), 'local-api-'));
  const endpoints = ['exec', 'attach', 'portForward', 'containerLogs'].map(
    (name) =>
      ({
        name,
        handle: ({ answer }: { answer: (with_: object) => void }) => answer({ status: 200 }),
      }) as unknown as Route,
  );
  const explained = {
    pod: { uid: 'u', namespace: 'default', name: 'a' },
    step: 'syncing',
    steps: [],
    summary: '',
  } as const;
  const metrics = createMetrics({ version: 'v1.36.0', showHiddenFor: '' });
  const routes = localApiRoutes({
    ...{ clock, api, store, endpoints, readBytes, metrics },
    explain: () => Promise.resolve(explained),
    summary: () => Promise.resolve({ node: {}, pods: [] }),
  });
  const server = createServer(
    {
      ...{ clock, log, metrics, routes, request: undefined },
      supervisor: createSupervisor({ clock, log, random: Math.random }),
      users: (token) => Promise.resolve(USERS[token]),
    },
    {
      secure: { address: '127.0.0.1', port: 0 },
      readOnly: undefined,
      nodeName: '127.0.0.1',
      files: { certificate: '', key: '', clientCa: '' },
      selfSigned: true,
      certificateDirectory: directory,
      tls: { minVersion: '', cipherSuites: [], curves: [] },
      anonymous: false,
      tokenReviews: undefined,
      authorization: 'AlwaysAllow',
      streamsByMethod: false,
      streamIdleMs: 60_000,
      switches: { debugging: true, systemLogs: false, profiling: false, debugFlags: false, heapSnapshots: false },
      nodeTokenFile: undefined,
    } as Parameters<typeof createServer>[1],
  );
  const life = new AbortController();
  await server.start(life.signal);
  t.after(async () => {
    life.abort();
    await server.stop?.();
    rmSync(directory, { recursive: true });
  });
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'm' }, spec });
  return (method: string, path: string, token: string | undefined) =>
    new Promise<number>((resolve, reject) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const { secure: port } = server.ports();
      const call = request(
        { host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      call.on('error', reject);
      call.end(path === '/pods' && method === 'POST' ? manifest : method === 'GET' || method === 'DELETE' ? '' : '{}');
    });
}

test('the door of the local API: no one without a token, a reader only reads, an administrator does all', async (t) => {
  const ask = await open(t);
  for (const [method, path, reader, full] of MATRIX) {
    const what = `${method} ${path}`;
    assert.equal(await ask(method, path, undefined), 401, `${what}, no token`);
    assert.equal(await ask(method, path, 'wrong'), 401, `${what}, a wrong token`);
    assert.equal(await ask(method, path, 'reader'), reader, `${what}, a reader`);
    assert.equal(await ask(method, path, 'full'), full, `${what}, an administrator`);
  }
});
