/** Calls of the container runtime and of the API server, counted. */
import { exponentialBuckets, type Metrics } from './metrics.ts';

export interface RuntimeCall {
  /** `/runtime.v1.RuntimeService/RunPodSandbox` */
  readonly path: string;
  readonly ms: number;
  /** Undefined if it went well. */
  readonly code: string | undefined;
}

/** Names of operations that don't follow from the call's. */
const OPERATIONS: Readonly<Record<string, string>> = {
  UpdateContainerResources: 'update_container',
  UpdatePodSandboxResources: 'update_podsandbox_resources',
};

export function createRuntimeMetrics(metrics: Metrics): (call: RuntimeCall) => void {
  const labels = ['operation_type'];
  const total = metrics.counter({
    name: 'kubelet_runtime_operations_total',
    help: 'Calls of the container runtime, by operation.',
    labels,
  });
  const errors = metrics.counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'Calls of the container runtime that failed, by operation.',
    labels,
  });
  const duration = metrics.histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'Seconds that calls of the container runtime took, by operation.',
    labels,
    buckets: exponentialBuckets(0.005, 2.5, 14),
  });
  const names = new Map<string, string>();
  return ({ path, ms, code }) => {
    let operation = names.get(path);
    if (operation === undefined) {
      operation = operationOf(path);
      names.set(path, operation);
    }
    const values = [operation];
    total.add(1, values);
    duration.observe(ms / 1000, values);
    // A call that its caller took back is no failure of the runtime.
    if (code !== undefined && code !== 'aborted') errors.add(1, values);
  };
}

/** `RunPodSandbox` is `run_podsandbox`. */
export function operationOf(path: string): string {
  const call = path.slice(path.lastIndexOf('/') + 1);
  const known = OPERATIONS[call];
  if (known !== undefined) return known;
  return call
    .replace(/PodSandbox/g, 'Podsandbox')
    .replace(/[A-Z]/g, (letter, at: number) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}

export interface ApiRequest {
  readonly verb: string;
  readonly host: string;
  /** Of the answer, or `<error>`. */
  readonly code: string;
  readonly durationMs: number;
  /** For its turn. */
  readonly waitedMs: number;
  readonly requestBytes: number;
  readonly answerBytes: number | undefined;
}

const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

export function createApiMetrics(metrics: Metrics): (request: ApiRequest) => void {
  const total = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by code, method and host.',
    labels: ['code', 'method', 'host'],
  });
  const duration = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds that requests to the API server took, by verb and host.',
    labels: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
  });
  const more = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name: `rest_client_${name}`, help, labels: ['verb', 'host'], buckets });
  const waited = more(
    'rate_limiter_duration_seconds',
    'Seconds that requests to the API server waited for their turn, by verb and host.',
    REQUEST_BUCKETS,
  );
  const sent = more('request_size_bytes', 'Bytes of requests to the API server, by verb and host.', SIZE_BUCKETS);
  const got = more('response_size_bytes', 'Bytes of answers of the API server, by verb and host.', SIZE_BUCKETS);
  return ({ verb, host, code, durationMs, waitedMs, requestBytes, answerBytes }) => {
    const labels = [verb, host];
    total.add(1, [code, verb, host]);
    duration.observe(durationMs / 1000, labels);
    waited.observe(waitedMs / 1000, labels);
    sent.observe(requestBytes, labels);
    if (answerBytes !== undefined) got.observe(answerBytes, labels);
  };
}

export interface RelistReport {
  readonly tookMs: number;
  /** Since the one before; undefined for the first. */
  readonly sinceMs: number | undefined;
}

/** Lists of everything that the runtime has: here the safety net under its events, so they are rarer than the reference's. */
export function createRelistMetrics(metrics: Metrics, now: () => number): (report: RelistReport) => void {
  const help = { duration: 'Seconds that a list of all pods took.', interval: 'Seconds between lists of all pods.' };
  const duration = metrics.histogram({ name: 'kubelet_pleg_relist_duration_seconds', help: help.duration });
  const interval = metrics.histogram({ name: 'kubelet_pleg_relist_interval_seconds', help: help.interval });
  const last = metrics.gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'When all pods were last listed, since 1970.',
  });
  return ({ tookMs, sinceMs }) => {
    duration.observe(tookMs / 1000);
    if (sinceMs !== undefined) interval.observe(sinceMs / 1000);
    last.set(now() / 1000);
  };
}

export function createWebSocketMetrics(metrics: Metrics): (subresource: string) => void {
  const total = metrics.counter({
    name: 'kubelet_websocket_streaming_requests_total',
    help: 'WebSockets of the newest protocols that were asked for, by what for.',
    labels: ['subresource'],
  });
  return (subresource) => total.add(1, [subresource]);
}
