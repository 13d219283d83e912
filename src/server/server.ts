/**
 * The kubelet's servers: 10250 with TLS and authentication, and the read-only 10255 if it is configured. A table of routes defines what
 * is served; client certificates, the API server or the node's own token decide about access.
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Inotify } from '../host/inotify.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createAuthenticate } from './auth/authenticate.ts';
import { type Authorize, authorizeAdministrators, authorizeByReview, authorizeEverybody } from './auth/authorize.ts';
import { createClientCertificates } from './auth/client-certificate.ts';
import { ensureNodeToken, reviewNodeToken } from './auth/node-token.ts';
import {
  createAccessReviews,
  createTokenReviews,
  type ReviewDeps,
  type ReviewRequest,
  type TokenReviews,
} from './auth/reviews.ts';
import { createConnections } from './connections.ts';
import { createGiveBack } from './give-back.ts';
import {
  type Address,
  DEFAULT_LIMITS,
  PLAIN_LIMITS,
  type Port,
  type PortLimits,
  plainPort,
  type Served,
  securePort,
} from './port.ts';
import { createRequestMetricFamilies, createRequestMetrics } from './request-metrics.ts';
import type { Route } from './routes.ts';
import { createRouter, type RouterSettings } from './rules/router.ts';
import { computeTlsOptions, type TlsRequests } from './rules/tls-options.ts';
import { createServe, type Guard } from './serve.ts';
import { ensureSelfSigned, readTlsMaterial, type TlsFiles, watchTlsFiles } from './tls/key-pairs.ts';

export interface ServerConfig {
  /** Undefined: no such port. */
  readonly secure: Address | undefined;
  readonly readOnly: Address | undefined;
  readonly nodeName: string;
  /** Empty certificate and key: a self-signed pair in `certificateDirectory`, or none. */
  readonly files: TlsFiles;
  /** False: without a certificate from elsewhere the server has none, and no handshake succeeds. */
  readonly selfSigned: boolean;
  readonly certificateDirectory: string;
  readonly tls: TlsRequests;
  readonly anonymous: boolean;
  readonly tokenReviews: { readonly cacheTtlMs: number } | undefined;
  readonly authorization: 'AlwaysAllow' | { readonly authorizedTtlMs: number; readonly unauthorizedTtlMs: number };
  readonly streamsByMethod: boolean;
  readonly streamIdleMs: number;
  readonly switches: RouterSettings['switches'];
  /** The file with the token of a node without a cluster; undefined: the cluster's tokens are valid. */
  readonly nodeTokenFile: string | undefined;
  /** Requests that other sites make browsers send are refused, as they are where there is a token of the node. */
  readonly refusesOtherSites?: boolean;
  /** The longest time between two attempts to listen on a port that is in use; five seconds by default. */
  readonly longestRetryMs?: number;
  /** How often the certificate files are checked; ten seconds by default. */
  readonly reloadEveryMs?: number;
  readonly limits?: Partial<PortLimits>;
}

export interface ServerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly metrics: Metrics;
  readonly routes: readonly Route[];
  /** Undefined: there is no API server. */
  readonly request: ReviewRequest | undefined;
  /** Decides about bearer tokens in place of the API server and of the node's own token: every user that it knows may ask every route. */
  readonly users?: TokenReviews | undefined;
  /** Called for a WebSocket request with a protocol of newer clients. */
  readonly onWebSocket?: (subresource: string) => void;
  /** Returns the freed memory of this process to the system. */
  readonly giveBackMemory?: (() => void) | undefined;
  /** Absent: files are checked periodically only. */
  readonly inotify?: Pick<Inotify, 'watch'> | undefined;
}

export interface Server extends Part {
  /** The numbers of the open ports; 0: not listening. */
  ports(): { readonly secure: number; readonly readOnly: number };
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

export function createServer(deps: ServerDeps, config: ServerConfig): Server {
  const open: Port[] = [];
  const work: Promise<void>[] = [];
  let secure: Port | undefined;
  let readOnly: Port | undefined;
  const build = createServeFactory(deps, config);
  const limits = { ...DEFAULT_LIMITS, ...config.limits };
  const plainLimits = { ...PLAIN_LIMITS, ...config.limits };
  const giveBack = createGiveBack(deps.clock, deps.giveBackMemory ?? (() => undefined));
  return {
    name: 'server',
    start: async (signal) => {
      if (config.secure !== undefined) {
        secure = await openSecure(config.secure, build('secure', await createGuard(config, deps), signal), signal);
      }
      if (config.readOnly !== undefined) {
        readOnly = plainPort(config.readOnly, build('readOnly', undefined, signal), plainLimits);
        await listen(readOnly, config.readOnly, 'Starting to listen read-only', signal);
      }
    },
    stop: async () => {
      await Promise.all(open.map((port) => port.close()));
      giveBack.close();
      await Promise.all(work);
    },
    ports: () => ({ secure: secure?.number() ?? 0, readOnly: readOnly?.number() ?? 0 }),
  };

  async function openSecure(address: Address, served: Served, signal: AbortSignal): Promise<Port> {
    const files = await tlsFiles(config, deps);
    const material = await readTlsMaterial(files);
    const tls = computeTlsOptions(config.tls);
    if (tls.unknown.length > 0) deps.log.warn('Some TLS settings are not supported', { settings: tls.unknown });
    const port = securePort(address, served, { tls, material, limits, onEnd: giveBack.ended });
    const { clock, log, supervisor } = deps;
    work.push(
      watchTlsFiles(
        files,
        material,
        {
          clock,
          log,
          supervisor,
          inotify: deps.inotify,
          everyMs: config.reloadEveryMs,
          onChange: (next) => port.renew?.(next),
        },
        signal,
      ),
    );
    await listen(port, address, 'Starting to listen', signal);
    return port;
  }

  /** The kubelet that this one replaces may still use the port: it is logged and retried. */
  async function listen(port: Port, address: Address, message: string, signal: AbortSignal): Promise<void> {
    const failure = await port.listen();
    open.push(port);
    if (failure === undefined) deps.log.info(message, { ...address });
    else work.push(retry(port, address, failure, signal));
  }

  async function retry(port: Port, address: Address, first: Error, signal: AbortSignal): Promise<void> {
    let failure: Error | undefined = first;
    let wait = FIRST_RETRY_MS;
    const rest = async (): Promise<void> => {
      deps.log.error('Failed to listen and serve', { err: failure, ...address, retryInMs: wait });
      await deps.clock.sleep(wait, signal);
      wait = Math.min(wait * 2, config.longestRetryMs ?? LONGEST_RETRY_MS);
    };
    const pass = async (): Promise<void> => {
      failure = await port.listen();
    };
    const isDone = () => failure === undefined;
    await deps.supervisor.run(
      { name: 'server listen', about: { ...address }, restFirst: true, pass, rest, isDone },
      signal,
    );
    if (isDone()) deps.log.info('Starting to listen', { ...address });
  }
}

async function tlsFiles(
  { files, selfSigned, certificateDirectory, nodeName }: ServerConfig,
  { clock, log }: ServerDeps,
): Promise<TlsFiles> {
  if (files.certificate !== '' || !selfSigned) return files;
  return { ...files, ...(await ensureSelfSigned(certificateDirectory, nodeName, clock.now(), log)) };
}

function createServeFactory(deps: ServerDeps, config: ServerConfig) {
  const families = createRequestMetricFamilies(deps.metrics);
  const roots = new Set(deps.routes.map(({ pattern }) => metricRoot(pattern)));
  const dropped = deps.metrics.counter({
    name: 'kubelet_ts_server_connections_dropped_total',
    help: 'Connections closed to make room for others, by port and the limit that was reached; refused: the new one was closed.',
    labels: ['server_type', 'reason'],
  });
  return (port: RouterSettings['port'], guard: Guard | undefined, stopping: AbortSignal): Served => {
    const type = port === 'secure' ? 'readwrite' : 'readonly';
    const { mono } = deps.clock;
    const limits = { ...(port === 'secure' ? DEFAULT_LIMITS : PLAIN_LIMITS), ...config.limits };
    const connections = createConnections(limits, (reason) => dropped.add(1, [type, reason]));
    const serve = createServe({
      log: deps.log,
      mono,
      route: createRouter(deps.routes, { port, switches: config.switches }),
      guard,
      metrics: createRequestMetrics(families, { type, roots }, mono),
      streamIdleMs: config.streamIdleMs,
      onUpgrade: (route, request) => {
        if (isNewWebSocket(request)) deps.onWebSocket?.(route.toLowerCase());
      },
      connections,
      ownName: config.nodeTokenFile !== undefined || config.refusesOtherSites ? config.nodeName : undefined,
      stopping,
    });
    return { serve, connections };
  };
}

/** The fifth protocol of exec and attach, and the tunnel of port-forward. */
function isNewWebSocket({ headers }: IncomingMessage): boolean {
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const isOne = headers.upgrade?.toLowerCase() === 'websocket';
  return isOne && protocols.some((name) => name === 'v5.channel.k8s.io' || name === 'SPDY/3.1+portforward.k8s.io');
}

function metricRoot(pattern: string): string {
  const [first = '', second] = pattern.split('/').slice(1);
  return first === 'metrics' && second !== undefined ? `metrics/${second}` : first;
}

async function createGuard(config: ServerConfig, deps: ServerDeps): Promise<Guard> {
  const reviews = deps.request && createReviewDeps(deps, deps.request);
  const reviewToken = deps.users ?? (await tokenReviews(config, deps, reviews));
  const certificateOf = createClientCertificates(deps.clock.now, certificateMetrics(deps.metrics));
  return {
    authenticate: createAuthenticate({
      anonymous: config.anonymous,
      reviewToken,
      knowsAllTokens: config.nodeTokenFile === undefined,
    }),
    authorize: deps.users === undefined ? authorization(config, reviews) : authorizeEverybody,
    clientCertificate: ({ socket }: IncomingMessage) =>
      socket instanceof TLSSocket ? certificateOf(socket) : { kind: 'none' },
    streamsByMethod: config.streamsByMethod,
  };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function certificateMetrics(metrics: Metrics): (remainingMs: number) => void {
  const remaining = metrics.histogram({
    name: 'apiserver_client_certificate_expiration_seconds',
    help: 'Seconds for which certificates of clients are still good, with each request.',
    buckets: [
      ...[0, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR],
      ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * DAY),
    ],
  });
  return (remainingMs) => remaining.observe(remainingMs / 1000);
}

async function tokenReviews(
  { nodeTokenFile, tokenReviews }: ServerConfig,
  { log }: ServerDeps,
  reviews: ReviewDeps | undefined,
): Promise<TokenReviews | undefined> {
  if (nodeTokenFile !== undefined) {
    const token = await ensureNodeToken(nodeTokenFile);
    log.info('The token in this file gives access to the port of this node', { file: nodeTokenFile });
    return reviewNodeToken(token);
  }
  return tokenReviews && reviews && createTokenReviews(tokenReviews, reviews);
}

function authorization({ authorization: mode, nodeName }: ServerConfig, reviews: ReviewDeps | undefined): Authorize {
  if (mode === 'AlwaysAllow') return authorizeEverybody;
  return reviews === undefined
    ? authorizeAdministrators
    : authorizeByReview(createAccessReviews({ nodeName, ...mode }, reviews));
}

function createReviewDeps({ clock, metrics }: ServerDeps, request: ReviewRequest): ReviewDeps {
  const family = (what: string) => ({
    total: metrics.counter({
      name: `apiserver_delegated_${what}_request_total`,
      help: 'Reviews by the API server, by status code.',
      labels: ['code'],
    }),
    duration: metrics.histogram({
      name: `apiserver_delegated_${what}_request_duration_seconds`,
      help: 'Seconds that reviews took, by status code.',
      labels: ['code'],
      buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
    }),
  });
  const families = { token: family('authn'), access: family('authz') };
  return {
    clock,
    request,
    onReview: ({ kind, code, seconds }) => {
      families[kind].total.add(1, [code]);
      families[kind].duration.observe(seconds, [code]);
    },
  };
}
