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
import { openServer, type Server } from './server.ts';
import { createWatch } from './watch.ts';

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: ApiPath;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The content type of a PATCH; strategic unless told. */
  readonly patch?: 'strategic' | 'merge' | 'json';
  /** For the whole request with its waits and retries. */
  readonly timeoutMs?: number;
  /** Goes before others where the limit makes them wait. */
  readonly urgent?: boolean;
}

/**
 * Failures are CodedErrors: 404 `notFound`; 409 `conflict`, or `exists` where the reason is AlreadyExists; 410 `gone`; 401
 * `unauthenticated`; 403 `denied`; 400, 413, 415 and 422 `invalid`; 429, 5xx and everything about connections `unavailable`; time
 * is up `deadline`. Their `data` is a `KubeErrorData`. An abort rejects with the signal's reason.
 *
 * Only an answer 429 or 503 with Retry-After is tried again here, in bounds; everything else is for the caller to decide.
 */
export interface KubeClient {
  request<Answer = unknown>(request: KubeRequest, signal: AbortSignal): Promise<Answer>;
}

export interface KubeErrorData {
  /** Undefined where no answer came. */
  readonly httpStatus?: number;
  readonly status?: KubeStatus;
  readonly retryAfterMs?: number;
}

/** The API server's words about a request that it refused. */
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

/** As it came over the wire: nothing is defaulted or checked beyond these. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    /** Always there in what a list or watch gives; optional so that every API type fits. */
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly labels?: StringMap;
    readonly annotations?: StringMap;
  };
}

/** Called in the order of the changes, never again after `stop`. What a listener throws is logged and goes no further. */
export interface WatchListener<T> {
  /** The whole list: at first, and again whenever the way from the last one was lost. Objects that are not in it are gone. */
  replaced(objects: readonly T[]): void;
  /** Added or changed. */
  changed(object: T): void;
  /** Its last state. */
  removed(object: T): void;
}

export interface WatchRequest<T> {
  /** Of the collection: `/api/v1/pods`. */
  readonly path: ApiPath;
  readonly fieldSelector?: FieldSelector;
  readonly labelSelector?: string;
  /** The list comes over the watch itself, in one request, where the server can do that: for lists that are short. */
  readonly inOne?: boolean;
  readonly listener: WatchListener<T>;
}

export interface Kube extends Part {
  /** kubeAPIQPS and kubeAPIBurst. */
  readonly general: KubeClient;
  /** Not limited here: who sends events paces itself. */
  readonly events: KubeClient;
  /** The rate of `general` once more, apart from it: callers of the kubelet cause these, and must not delay pods. */
  readonly reviews: KubeClient;
  /** No throttling, a short timeout, a connection of its own. */
  readonly heartbeats: KubeClient;
  /** List, watch from there, resume, relist after 410, back-off with jitter; until it is stopped. `start` resolves at once. */
  watch<T extends KubeObject>(asked: WatchRequest<T>): Part;
  /** Heartbeats failed: closes every connection, and the next request makes a new one. */
  reconnect(reason: string): void;
  /** Called whenever the server answers again after it did not: the moment to try what was put off. Gives the way to unsubscribe. */
  onBack(name: string, listener: () => void): () => void;
  /** The server's clock and ours, when its last dated answer came; by wall clock, ms. The server's is cut to a second. */
  readonly serverDate?: () => { readonly serverAt: number; readonly ownAt: number } | undefined;
  /** `https://192.0.2.1:6443`; empty before `start` has read the kubeconfig. */
  readonly server: string;
}

export interface KubeDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** Of jitter: from 0 to just below 1. */
  readonly random: () => number;
  /** What credential plugins inherit, and where a proxy may be named. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told of every exchange, for metrics. */
  readonly onRequest?: (record: RequestRecord) => void;
  readonly dial?: Dial;
  readonly run?: RunProgram;
}

export interface KubeConfig {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the kubeconfig for a first certificate; empty: none. */
  readonly bootstrapKubeconfig: string;
  readonly limit: BucketSize;
  readonly heartbeatTimeoutMs: number;
  readonly userAgent: string;
}

export function createKube(deps: KubeDeps, config: KubeConfig): Kube {
  const about = () => ({ kubeconfig: config.kubeconfig });
  const listeners = createListeners<string>({ ...deps, keyOf: (server) => server, about });
  const life = linkSignal();
  let server: Server | undefined;
  let date: ReturnType<NonNullable<Kube['serverDate']>>;
  const onRequest = (record: RequestRecord) => {
    const serverAt = record.date === undefined ? undefined : parseHttpDate(record.date);
    if (serverAt !== undefined) date = { serverAt, ownAt: deps.clock.now() };
    deps.onRequest?.(record);
  };
  const load = async () => {
    const { access, warnings } = await loadKubeconfig({
      path: config.kubeconfig,
      bootstrapPath: config.bootstrapKubeconfig,
      environment: deps.environment,
    });
    for (const warning of warnings) deps.log.warn('Something in the kubeconfig is not used', { what: warning });
    return access;
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
      await opened.credentials.check();
      opened.reachability.subscribe('access to the API server', () => listeners.tell(opened.text));
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
    watch: (asked) => {
      let running: { readonly part: Part; readonly signal: LinkedSignal } | undefined;
      return {
        name: `watch of ${asked.path}`,
        start: (signal) => {
          const { general, reachability } = use();
          const both = linkSignal(signal, life.signal);
          running = { part: createWatch({ ...deps, client: general, reachability }, asked), signal: both };
          return running.part.start(both.signal);
        },
        stop: async () => {
          await running?.part.stop?.();
          running?.signal[Symbol.dispose]();
        },
      };
    },
    reconnect: (reason) => {
      deps.log.warn('Connections to the API server are closed', { reason });
      server?.reconnect(reason);
    },
    onBack: listeners.add,
    serverDate: () => date,
    get server() {
      return server?.text ?? '';
    },
  };
}
