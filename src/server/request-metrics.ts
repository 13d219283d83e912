/** Requests of the server's ports, counted in the reference's names. */
import type { Counter, Gauge, Histogram, Metrics } from '../telemetry/metrics.ts';
import { metricPath } from './rules/router.ts';

export interface RequestMetrics {
  /** Call what it returns when the request is over. */
  began(method: string, path: string): () => void;
}

const METHODS = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);
/** As the reference writes them: `portForward` is not among them there, by a slip of the pen that dashboards know. */
const LONG_RUNNING = new Set(['exec', 'attach', 'portforward', 'debug']);
const LABELS = ['method', 'path', 'server_type', 'long_running'];

export interface RequestMetricFamilies {
  readonly total: Counter;
  readonly inFlight: Gauge;
  readonly duration: Histogram;
}

/** Once for all ports. */
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
    began: (wantedMethod, path) => {
      const method = METHODS.has(wantedMethod) ? wantedMethod : 'other';
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
