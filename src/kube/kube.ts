/** Access to the API server: requests, and lists that are kept up to date by watches. */
import type { ApiPath, FieldSelector } from '../api/api-path.ts';
import { parseHttpDate } from '../api/http-date.ts';
import type { StringMap } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import { createListeners } from '../base/listeners.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { BucketSize } from '../base/token-bucket.ts';
import type { RunProgram } from '../host/program.ts';
import type { RequestRecord } from './client.ts';
import type { Dial } from './dial.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { Access } from './rules/kubeconfig.ts';
import { openServer, type Server } from './server.ts';
import { createWatch } from './watch.ts';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: ApiPath;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The content type of a PATCH; strategic by default. */
  readonly patch?: 'strategic' | 'merge' | 'json';
  /** For the whole request with its delays and retries. */
  readonly timeoutMs?: number;
  /** Goes before others while the rate limit delays them. */
  readonly urgent?: boolean;
}

/**
 * Failures are CodedErrors: 404 `notFound`; 409 `conflict`, or `exists` where the reason is AlreadyExists; 410 `gone`; 401
 * `unauthenticated`; 403 `denied`; 400, 413, 415 and 422 `invalid`; 429, 5xx and everything about connections `unavailable`; time
 * is up `deadline`. Their `data` is a `KubeErrorData`. An abort rejects with the signal's reason.
 *
 * Only an answer 429 or 503 with Retry-After is retried here, within limits; everything else is the caller's decision.
 */
export interface KubeClient {
  request<Answer = unknown>(request: KubeRequest, signal: AbortSignal): Promise<Answer>;
}

export interface KubeErrorData {
  /** Undefined if there was no answer. */
  readonly httpStatus?: number;
  readonly status?: KubeStatus;
  readonly retryAfterMs?: number;
}

/** What the API server answers to a request that it refuses. */
export interface KubeStatus {
  readonly kind: 'Status';
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/** As received: nothing beyond these fields is defaulted or checked. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    /** Always present in the objects of a list or watch; optional so that every API type fits. */
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly labels?: StringMap;
    readonly annotations?: StringMap;
  };
}

/** Called in the order of the changes, never again after `stop`. An error that a listener throws is logged and does not stop the watch. */
export interface WatchListener<T> {
  /** The whole list: at first, and again when changes may have been missed. Objects that are not in it were deleted. */
  replaced(objects: readonly T[]): void;
  /** Added or changed. */
  changed(object: T): void;
  /** Its last state. */
  removed(object: T): void;
}

export interface WatchRequest<T> {
  /** Path of the collection: `/api/v1/pods`. */
  readonly path: ApiPath;
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: string;
  /** Get the list over the watch itself, in one request, if the server supports it: for short lists. */
  readonly inOne?: boolean;
  readonly listener: WatchListener<T>;
}

export interface Kube extends Part {
  /** kubeAPIQPS and kubeAPIBurst. */
  readonly general: KubeClient;
  /** Not limited here: the sender of events has its own limit. */
  readonly events: KubeClient;
  /** Has a limit of its own, with the rate of `general`: requests to the kubelet cause these, and must not delay pods. */
  readonly reviews: KubeClient;
  /** No throttling, a short timeout, its own connection. */
  readonly heartbeats: KubeClient;
  /** List, watch from there, resume, relist after 410, back-off with jitter; until it is stopped. `start` resolves at once. */
  watch<T extends KubeObject>(request: WatchRequest<T>): Part;
  /** Reads the kubeconfig and certificates again after they were replaced, and moves to new connections. */
  refreshCredentials(reason: string): Promise<void>;
  /** Closes every connection because heartbeats failed; the next request opens a new one. */
  reconnect(reason: string): void;
  /** Whether the node has no client certificate yet, and requests fail until it is issued. The end of this is the end of an outage. */
  readonly awaitsCertificate?: () => boolean;
  /** Calls the listener at the end of each outage, so that it can retry at once. Returns the function that unsubscribes. */
  onBack(name: string, listener: () => void): () => void;
  /** The server's clock and ours at its last answer with a date; wall clock, ms. The server's has whole seconds only. */
  readonly serverDate?: () => { readonly serverAt: number; readonly ownAt: number } | undefined;
  /** `https://192.0.2.1:6443`; empty before `start` has read the kubeconfig. */
  readonly server: string;
}

export interface KubeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** Jitter: from 0 to just below 1. */
  readonly random: () => number;
  /** Credential plugins inherit it, and it may name a proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called after every exchange, for metrics. */
  readonly onRequest?: (record: RequestRecord) => void;
  readonly dial?: Dial;
  readonly run?: RunProgram;
  /** A certificate that is kept up to date elsewhere; without it the kubeconfig's own counts. */
  readonly clientCertificate?: RotatedCertificate | undefined;
}

export interface RotatedCertificate {
  /** The file with certificate and key that replaces the kubeconfig's; undefined: the kubeconfig's own counts. */
  path(): string | undefined;
  /** Whether the first one is still being requested: that it is missing is then no error of the configuration. */
  isAwaited(): boolean;
  /** Called at each answer 401: it may have expired while our clock said otherwise. */
  refused?(): void;
}

export interface KubeConfig {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the file with credentials that replace those of the kubeconfig; empty: none. */
  readonly authPath?: string;
  readonly limit: BucketSize;
  readonly heartbeatTimeoutMs: number;
  readonly userAgent: string;
}

export function createKube(deps: KubeDeps, config: KubeConfig): Kube {
  const about = () => ({ kubeconfig: config.kubeconfig });
  const listeners = createListeners<string>({ ...deps, keyOf: (server) => server, about });
  const life = linkSignal();
  let server: Server | undefined;
  let isFirstAwaited = false;
  const awaitsCertificate = () => deps.clientCertificate?.isAwaited() === true;
  let date: ReturnType<NonNullable<Kube['serverDate']>>;
  const onRequest = (record: RequestRecord) => {
    const serverAt = record.date === undefined ? undefined : parseHttpDate(record.date);
    if (serverAt !== undefined) date = { serverAt, ownAt: deps.clock.now() };
    if (record.code === '401') deps.clientCertificate?.refused?.();
    deps.onRequest?.(record);
  };
  const load = async () => {
    const { access, warnings } = await loadKubeconfig({
      path: config.kubeconfig,
      environment: deps.environment,
      authPath: config.authPath ?? '',
    });
    for (const warning of warnings) deps.log.warn('A field of the kubeconfig has no effect', { field: warning });
    return withCertificate(access, deps.clientCertificate?.path());
  };
  const use = (): Server => {
    if (server === undefined) throw new CodedError('unavailable', 'access to the API server has not been started');
    return server;
  };
  const client = (pick: (server: Server) => KubeClient): KubeClient => ({
    request: async (request, signal) => await pick(use()).request(request, signal),
  });
  return {
    name: 'access to the API server',
    start: async () => {
      const opened = openServer({ ...deps, onRequest, load }, await load(), config);
      isFirstAwaited = awaitsCertificate();
      if (!isFirstAwaited) await opened.credentials.check();
      opened.reachability.subscribe('access to the API server', () => listeners.notify(opened.text));
      void opened.credentials.watchFiles(life.signal);
      server = opened;
    },
    stop: async () => {
      listeners.stop();
      life.abort('stopped');
      await server?.close();
    },
    general: client(({ general }) => general),
    events: client(({ events }) => events),
    reviews: client(({ reviews }) => reviews),
    heartbeats: client(({ heartbeats }) => heartbeats),
    watch: (request) => {
      let running: { readonly part: Part; readonly signal: LinkedSignal } | undefined;
      return {
        name: `watch of ${request.path}`,
        start: (signal) => {
          const { general, reachability } = use();
          const both = linkSignal(signal, life.signal);
          running = { part: createWatch({ ...deps, client: general, reachability }, request), signal: both };
          return running.part.start(both.signal);
        },
        stop: async () => {
          await running?.part.stop?.();
          running?.signal[Symbol.dispose]();
        },
      };
    },
    refreshCredentials: async (reason) => {
      await server?.credentials.refresh(reason);
      if (!isFirstAwaited || awaitsCertificate()) return;
      isFirstAwaited = false;
      listeners.notify(server?.text ?? '');
    },
    awaitsCertificate,
    reconnect: (reason) => {
      deps.log.warn('Closing all connections to the API server', { reason });
      server?.reconnect(reason);
    },
    onBack: listeners.add,
    serverDate: () => date,
    get server() {
      return server?.text ?? '';
    },
  };
}

function withCertificate(access: Access, path: string | undefined): Access {
  if (path === undefined) return access;
  const file = { kind: 'file', path } as const;
  return { ...access, user: { ...access.user, certificate: { cert: file, key: file } } };
}
