/** For tests of the server: certificates of every kind, an API server that answers reviews, and clients. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createSystemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger, type Logger } from '../base/logger.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import type { ReviewRequest } from './auth/reviews.ts';
import type { Route } from './routes.ts';
import { createServer, type Server, type ServerConfig } from './server.ts';
import { issueCertificate } from './tls/certificate.ts';

const DAY = 86_400_000;

export interface TestPki {
  readonly directory: string;
  readonly ca: string;
  readonly files: { readonly certificate: string; readonly key: string; readonly clientCa: string };
  readonly clients: Readonly<
    Record<'admin' | 'nobody' | 'wrongCa' | 'expired' | 'early' | 'wrongUse' | 'nameless', Pem>
  >;
  /** Another CA, and an admin of it. */
  readonly other: { readonly ca: string; readonly admin: Pem };
  remove(): void;
}

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export async function createTestPki(): Promise<TestPki> {
  const now = createSystemClock().now();
  const time = { from: now - DAY, to: now + DAY };
  const [ca, otherCa] = await Promise.all([
    issueCertificate({ kind: 'authority', commonName: 'test-ca', ...time }),
    issueCertificate({ kind: 'authority', commonName: 'test-ca', ...time }),
  ]);
  const issue = async (request: Partial<Parameters<typeof issueCertificate>[0]>, by = ca): Promise<Pem> => {
    const { certificate, key } = await issueCertificate(
      { kind: 'client', commonName: 'admin', organizations: ['team'], ...time, ...request },
      by,
    );
    return { cert: certificate, key };
  };
  const [server, admin, nobody, wrongCa, expired, early, wrongUse, nameless] = await Promise.all([
    issue({ kind: 'server', commonName: 'node', names: ['127.0.0.1', 'node'] }),
    issue({}),
    issue({ commonName: 'nobody' }),
    issue({}, otherCa),
    issue({ from: now - 2 * DAY, to: now - DAY / 2 }),
    issue({ from: now + DAY / 2, to: now + DAY }),
    issue({ kind: 'server' }),
    issue({ commonName: '' }),
  ]);
  const directory = mkdtempSync(join(tmpdir(), 'server-'));
  const files = {
    certificate: join(directory, 'tls.crt'),
    key: join(directory, 'tls.key'),
    clientCa: join(directory, 'ca.crt'),
  };
  writeFileSync(files.certificate, server.cert);
  writeFileSync(files.key, server.key);
  writeFileSync(files.clientCa, ca.certificate);
  return {
    directory,
    ca: ca.certificate,
    files,
    clients: { admin, nobody, wrongCa, expired, early, wrongUse, nameless },
    other: { ca: otherCa.certificate, admin: wrongCa },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export interface ReviewedAccess {
  readonly user: string;
  readonly verb: string;
  readonly subresource: string;
}

/** An API server that knows some tokens and permissions, can be unavailable, and remembers its reviews. */
export interface FakeReviews {
  readonly request: ReviewRequest;
  readonly tokens: Map<string, string>;
  /** `user verb subresource`; a user alone may do everything. */
  readonly rights: Set<string>;
  readonly reviewed: ReviewedAccess[];
  away: boolean;
  count: number;
}

export function createFakeReviews(): FakeReviews {
  const fake: FakeReviews = {
    tokens: new Map([
      ['admin-token', 'admin'],
      ['nobody-token', 'nobody'],
    ]),
    rights: new Set(['admin']),
    reviewed: [],
    away: false,
    count: 0,
    request: <Answer>({ path, body }: { path: string; body: unknown }) => {
      fake.count += 1;
      if (fake.away) return Promise.reject(new CodedError('unavailable', 'connect ECONNREFUSED'));
      const { spec } = body as { spec: Readonly<Record<string, unknown>> };
      const status = path.endsWith('/tokenreviews') ? reviewToken(String(spec['token'])) : reviewAccess(spec);
      return Promise.resolve({ status } as Answer);
    },
  };
  const reviewToken = (token: string) => {
    const username = fake.tokens.get(token);
    return username === undefined ? { authenticated: false } : { authenticated: true, user: { username, groups: [] } };
  };
  const reviewAccess = (spec: Readonly<Record<string, unknown>>) => {
    const { verb, subresource } = spec['resourceAttributes'] as { verb: string; subresource: string };
    const user = String(spec['user']);
    fake.reviewed.push({ user, verb, subresource });
    return { allowed: fake.rights.has(user) || fake.rights.has(`${user} ${verb} ${subresource}`) };
  };
  return fake;
}

export interface TestServer extends AsyncDisposable {
  readonly server: Server;
  readonly metrics: Metrics;
  readonly lines: readonly { readonly message: string; readonly values: Readonly<Record<string, unknown>> }[];
  /** Moves the clock of the caches. */
  later(ms: number): void;
}

export async function startTestServer(
  pki: TestPki,
  routes: readonly Route[],
  reviews: FakeReviews | undefined,
  more: Partial<ServerConfig> = {},
): Promise<TestServer> {
  const lines: { message: string; values: Readonly<Record<string, unknown>> }[] = [];
  const note = (message: string, values: Readonly<Record<string, unknown>> = {}) =>
    void lines.push({ message, values });
  const log: Logger = {
    ...createSilentLogger(),
    info: note,
    warn: note,
    error: note,
    v: (level) => (level <= 2 ? log : undefined),
  };
  const system = createSystemClock();
  let shift = 0;
  const clock: Clock = { ...system, mono: () => system.mono() + shift };
  const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '' });
  const server = createServer(
    { clock, supervisor: createTestSupervisor(clock), log, metrics, routes, request: reviews?.request },
    {
      secure: { address: '127.0.0.1', port: 0 },
      readOnly: undefined,
      nodeName: 'node',
      files: pki.files,
      selfSigned: true,
      certificateDirectory: pki.directory,
      tls: { minVersion: '', cipherSuites: [], curves: [] },
      anonymous: false,
      tokenReviews: { cacheTtlMs: 120_000 },
      authorization: { authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000 },
      streamsByMethod: false,
      streamIdleMs: 0,
      switches: { debugging: true, systemLogs: true, profiling: true, debugFlags: true, heapSnapshots: true },
      nodeTokenFile: undefined,
      ...more,
    },
  );
  const stopping = new AbortController();
  await server.start(stopping.signal);
  return {
    server,
    metrics,
    lines,
    later: (ms) => {
      shift += ms;
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new Error('stopped'));
      await server.stop?.();
    },
  };
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestAsk {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly pem?: Pem;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

/** One request to the secure port. An accepted upgrade has status 101 and is closed. */
export function ask(
  port: number,
  ca: string,
  { method = 'GET', path, token, pem, headers = {}, body, agent }: TestAsk,
): Promise<TestAnswer> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const request = httpsRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      ca,
      headers: { ...authorization, ...headers },
      agent: agent ?? new Agent({ keepAlive: false }),
      ...pem,
    });
    collect(request, resolve, reject);
    request.end(body);
  });
}

/** One request to the read-only port. */
export function askPlain(port: number, path: string, method = 'GET'): Promise<TestAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, agent: false });
    collect(request, resolve, reject);
    request.end();
  });
}

function collect(
  request: ReturnType<typeof httpRequest>,
  resolve: (answer: TestAnswer) => void,
  reject: (error: Error) => void,
): void {
  request.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    response.on('error', reject);
  });
  request.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: '' });
  });
  request.on('error', reject);
}
