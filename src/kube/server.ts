/** The API server of a kubeconfig with its clients and their connections. */
import { apiPath } from '../api/api-path.ts';
import { CodedError } from '../base/errors.ts';
import { linkSignal } from '../base/signal.ts';
import { type Client, createClient } from './client.ts';
import { type Connections, createConnections } from './connections.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { dialTcp, openSocket } from './dial.ts';
import type { KubeConfig, KubeDeps } from './kube.ts';
import { createLimiter, createOpenLimiter, type Limiter } from './limiter.ts';
import type { Link } from './link.ts';
import { createHttp1Link } from './link-h1.ts';
import { openHttp2Link } from './link-h2.ts';
import { createReachability, type Reachability } from './reachability.ts';
import type { Access } from './rules/kubeconfig.ts';

export interface Server {
  readonly general: Client;
  readonly events: Client;
  readonly reviews: Client;
  readonly heartbeats: Client;
  readonly credentials: Credentials;
  readonly reachability: Reachability;
  readonly text: string;
  reconnect(reason: string): void;
  close(): Promise<void>;
}

/** The server itself ends a request after this time. */
const GENERAL_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 5_000;

export function openServer(
  deps: KubeDeps & { readonly load: () => Promise<Access> },
  access: Access,
  config: KubeConfig,
): Server {
  const { clock, log, onRequest = () => undefined } = deps;
  const { endpoint } = access.cluster;
  const credentials = createCredentials(
    {
      ...deps,
      kubeconfig: { path: config.kubeconfig, load: deps.load },
      onChange: (reason) => {
        log.info('Renewing the connections to the API server', { reason });
        for (const connections of kinds) connections.renew(reason);
      },
    },
    access,
  );
  const dial = createDial(deps, credentials);
  const createKind = () => createConnections({ ...deps, dial, server: endpoint.text });
  const shared = createKind();
  const separate = createKind();
  const kinds: readonly Connections[] = [shared, separate];
  const reachability: Reachability = createReachability({
    ...deps,
    server: endpoint.text,
    probe: async (signal) => {
      await prober.request({ method: 'GET', path: apiPath`/readyz` }, signal);
    },
  });
  const common = { host: hostOf(access), basePath: endpoint.basePath, userAgent: config.userAgent };
  const createKindOfClient = (connections: Connections, limiter: Limiter, timeoutMs: number): Client =>
    createClient({ clock, connections, credentials, limiter, reachability, onRequest }, { ...common, timeoutMs });
  const unlimited = createOpenLimiter();
  // A starting server answers before it is ready: these answers must not count for `reachability`.
  const uncounted = { answered: () => undefined, failed: () => undefined };
  const prober = createClient(
    { clock, connections: shared, credentials, limiter: unlimited, reachability: uncounted, onRequest },
    { ...common, timeoutMs: PROBE_TIMEOUT_MS },
  );
  return {
    general: createKindOfClient(shared, createLimiter(config.limit, clock), GENERAL_TIMEOUT_MS),
    events: createKindOfClient(shared, unlimited, GENERAL_TIMEOUT_MS),
    reviews: createKindOfClient(shared, createLimiter(config.limit, clock), GENERAL_TIMEOUT_MS),
    heartbeats: createKindOfClient(separate, unlimited, config.heartbeatTimeoutMs),
    credentials,
    reachability,
    text: endpoint.text,
    reconnect: (reason) => {
      for (const connections of kinds) connections.reconnect(reason);
    },
    close: async () => {
      reachability.stop();
      credentials.stop();
      await Promise.all(kinds.map((connections) => connections.close()));
    },
  };
}

function hostOf({ cluster: { endpoint } }: Access): string {
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const usual = endpoint.secure ? 443 : 80;
  return endpoint.port === usual ? host : `${host}:${endpoint.port}`;
}

function createDial(deps: KubeDeps, credentials: Credentials) {
  const open = async (signal: AbortSignal) => {
    const material = await credentials.material(signal);
    return await openSocket({ cluster: credentials.access().cluster, material, dial: deps.dial ?? dialTcp }, signal);
  };
  return async (signal: AbortSignal): Promise<Link> => {
    const { socket, protocol } = await open(signal);
    const authority = hostOf(credentials.access());
    if (protocol === 'h2') return await openHttp2Link(socket, { authority, scheme: 'https' }, signal);
    const own = linkSignal();
    const link = createHttp1Link(socket, { authority, openSocket: async () => (await open(own.signal)).socket });
    void link.closed.then(() => own.abort(new CodedError('unavailable', 'the connection is closed')));
    return link;
  };
}
