/** Counts the requests of the server's ports, under the names of the reference. */
import type { Counter, Gauge, Histogram, Metrics } from '../telemetry/metrics.ts';
import { metricPath } from './rules/router.ts';

export interface RequestMetrics {
  /** Call what it returns when the request is over. */
  began(method: string, path: string): () => void;
}

const METHODS = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);
/** As in the reference, which lacks `portForward` by mistake; dashboards rely on it. */
const LONG_RUNNING = new Set(['exec', 'attach', 'portforward', 'debug']);
const LABELS = ['method', 'path', 'server_type', 'long_running'];

export interface RequestMetricFamilies {
  readonly total: Counter;
  readonly inFlight: Gauge;
  readonly duration: Histogram;
}

/** One for all ports. */
export function createRequestMetricFamilies(metrics: Metrics): RequestMetricFamilies {
  const labels = LABELS;
  return {
    total: metrics.counter({
      name: 'kubelet_http_requests_total',
      help: 'Requests that came in, by method, path, port and whether they may last.',
      labels,
    }),
    inFlight: metrics.gauge({
      name: 'kubelet_http_inflight_requests',
      help: 'Requests that are being answered.',
      labels,
    }),
    duration: metrics.histogram({
      name: 'kubelet_http_requests_duration_seconds',
      help: 'Seconds until requests were answered.',
      labels,
    }),
  };
}

export function createRequestMetrics(
  { total, inFlight, duration }: RequestMetricFamilies,
  server: { readonly type: 'readonly' | 'readwrite'; readonly roots: ReadonlySet<string> },
  mono: () => number,
): RequestMetrics {
  return {
    began: (requestMethod, path) => {
      const method = METHODS.has(requestMethod) ? requestMethod : 'other';
      const root = metricPath(path, server.roots);
      const labels = [method, root, server.type, String(LONG_RUNNING.has(root))];
      const began = mono();
      total.add(1, labels);
      inFlight.add(1, labels);
      let over = false;
      return () => {
        if (over) return;
        over = true;
        inFlight.add(-1, labels);
        duration.observe((mono() - began) / 1000, labels);
      };
    },
  };
}
