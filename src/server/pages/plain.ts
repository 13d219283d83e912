/** The simple pages: health, configuration, metrics, statistics, the verbosity of the log. */
import type { Metrics } from '../../telemetry/metrics.ts';
import { readBody } from '../body.ts';
import { answerLarge, jsonWithList, type Pieces } from '../large-answer.ts';
import { type Access, type Answer, type Exchange, errorPage, jsonAnswer, PROXY, type Route } from '../routes.ts';

export interface PlainPagesDeps {
  /** The health page for a path below `/healthz`; undefined: no such check. */
  readonly health: (path: string, query: URLSearchParams, signal: AbortSignal) => Promise<Answer | undefined>;
  /** `withOrigins`: with where each value came from. */
  readonly configz: (withOrigins: boolean) => unknown;
  /** `/metrics`, and the metrics with their own pages. */
  readonly metrics: Metrics;
  readonly probeMetrics: Metrics;
  readonly healthMetrics: Metrics;
  readonly statistics: Statistics;
  /** Undefined: the log of an embedder, which has its own verbosity. */
  readonly setVerbosity: ((level: number) => void) | undefined;
}

/** Measurements of another part of the kubelet. */
export interface Statistics {
  summary(
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<{ readonly node: object; readonly pods: readonly object[] }>;
  cadvisorMetrics(signal: AbortSignal): AsyncIterable<string>;
  resourceMetrics(signal: AbortSignal): Promise<string>;
  spec(signal: AbortSignal): Promise<unknown>;
  /** What `/metrics` shows beside the registry. */
  kubeletMetrics(signal: AbortSignal): Promise<string>;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';
const READ = ['GET', 'HEAD'];

const METRICS: Access = { subresource: 'metrics', verb: 'method' };
const STATS: Access = { subresource: 'stats', verb: 'method' };
const SPEC: Access = { subresource: 'spec', verb: 'method' };
const HEALTHZ: Access = { fineGrained: 'healthz', subresource: 'proxy', verb: 'method' };
const CONFIGZ: Access = { fineGrained: 'configz', subresource: 'proxy', verb: 'method' };

export function plainRoutes(deps: PlainPagesDeps): readonly Route[] {
  const { metrics, probeMetrics, healthMetrics } = deps;
  return [
    open('healthz', '/healthz', HEALTHZ, (exchange) => answerHealth(exchange, deps)),
    open('healthz', '/healthz/{check:*}', HEALTHZ, (exchange) => answerHealth(exchange, deps)),
    open('metrics', '/metrics', METRICS, async (exchange) =>
      sendMetrics(exchange, [metrics.render(), await deps.statistics.kubeletMetrics(exchange.signal)]),
    ),
    open('metrics', '/metrics/probes', METRICS, (exchange) => sendMetrics(exchange, [probeMetrics.render()])),
    open('metrics', '/metrics/slis', METRICS, (exchange) => sendMetrics(exchange, [healthMetrics.render()])),
    ...statisticsRoutes(deps),
    secure(
      'configz',
      { methods: READ, pattern: '/configz', access: CONFIGZ, switch: 'debugging' },
      ({ answer, query }) => answer(jsonAnswer(deps.configz(query.get('origins') === 'true'))),
    ),
    secure(
      'flags',
      {
        methods: ['PUT', ...READ, 'POST'],
        pattern: '/debug/flags/v',
        access: PROXY,
        switch: 'debugFlags',
        audited: true,
      },
      (exchange) => setVerbosity(exchange, deps),
    ),
  ];
}

function open(name: string, pattern: string, access: Access, handle: Route['handle']): Route {
  return { name, methods: READ, pattern, access, port: 'both', switch: 'always', handle };
}

function secure(
  name: string,
  rest: Pick<Route, 'methods' | 'pattern' | 'access' | 'switch' | 'audited'>,
  handle: Route['handle'],
): Route {
  return { name, port: 'secure', ...rest, handle };
}

async function answerHealth({ answer, path, query, signal }: Exchange, deps: PlainPagesDeps): Promise<void> {
  const page = await deps.health(path, query, signal);
  answer(page ?? errorPage(404, '404 page not found'));
}

const sendMetrics = (exchange: Exchange, pieces: Pieces) => answerLarge(exchange, METRICS_TYPE, pieces);

export const sendCadvisorMetrics =
  (statistics: Pick<Statistics, 'cadvisorMetrics'>): Route['handle'] =>
  (exchange) =>
    sendMetrics(exchange, statistics.cadvisorMetrics(exchange.signal));

function statisticsRoutes({ statistics }: PlainPagesDeps): readonly Route[] {
  return [
    open('stats', '/stats/summary', STATS, async (exchange) => {
      const { node, pods } = await statistics.summary(exchange.query, exchange.signal);
      return answerLarge(exchange, 'application/json', jsonWithList({ node }, 'pods', pods));
    }),
    open('stats', '/metrics/cadvisor', METRICS, sendCadvisorMetrics(statistics)),
    open('stats', '/metrics/resource', METRICS, async (exchange) =>
      sendMetrics(exchange, [await statistics.resourceMetrics(exchange.signal)]),
    ),
    // The reference still has this path and its permission, without a page. This is the page that it had.
    open('stats', '/spec/', SPEC, async ({ signal, answer }) => answer(jsonAnswer(await statistics.spec(signal)))),
  ];
}

const LONGEST_LEVEL = 32;

async function setVerbosity({ request, answer, log, user }: Exchange, deps: PlainPagesDeps): Promise<void> {
  const text = (status: number, body: string) =>
    answer({ status, body, type: 'text/plain', headers: { 'X-Content-Type-Options': 'nosniff' } });
  if (request.method !== 'PUT') return text(406, 'unsupported http method');
  const body = await readBody(request, LONGEST_LEVEL).catch(() => undefined);
  if (body === undefined || !/^\d{1,9}$/.test(body))
    return text(
      400,
      `the level of the log must be a whole number such as 4 (found ${JSON.stringify(body ?? 'more than 32 bytes')})`,
    );
  if (deps.setVerbosity === undefined) return text(501, 'the log of this kubelet is not its own');
  deps.setVerbosity(Number(body));
  log.info('Set the verbosity of the log', { level: Number(body), user: user.name });
  text(200, `successfully set klog.logging.verbosity to ${body}`);
}
