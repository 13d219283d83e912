/** The pages that show one thing: health, configuration, metrics, statistics, the verbosity of the log. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Metrics } from '../../telemetry/metrics.ts';
import { readBody } from '../body.ts';
import { type Access, type Answer, type Exchange, errorPage, jsonAnswer, PROXY, type Route } from '../routes.ts';

export interface PlainPagesDeps {
  /** The health page for a path below `/healthz`; undefined: no such check. */
  readonly health: (path: string, query: URLSearchParams, signal: AbortSignal) => Promise<Answer | undefined>;
  readonly configz: () => unknown;
  /** `/metrics`, and what has a page of its own. */
  readonly metrics: Metrics;
  readonly probeMetrics: Metrics;
  readonly healthMetrics: Metrics;
  readonly statistics: Statistics;
  /** Undefined: the embedder's log has its own rules. */
  readonly setVerbosity: ((level: number) => void) | undefined;
}

/** What another part of the kubelet measures. */
export interface Statistics {
  summary(query: URLSearchParams, signal: AbortSignal): Promise<unknown>;
  cadvisorMetrics(signal: AbortSignal): Promise<string>;
  resourceMetrics(signal: AbortSignal): Promise<string>;
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
    open('metrics', '/metrics', METRICS, (exchange) => sendMetrics(exchange, metrics.render())),
    open('metrics', '/metrics/probes', METRICS, (exchange) => sendMetrics(exchange, probeMetrics.render())),
    open('metrics', '/metrics/slis', METRICS, (exchange) => sendMetrics(exchange, healthMetrics.render())),
    ...statisticsRoutes(deps),
    secure('configz', { methods: READ, pattern: '/configz', access: CONFIGZ, switch: 'debugging' }, ({ answer }) =>
      answer(jsonAnswer(deps.configz())),
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

/** Scrapers take it packed: a node's numbers repeat the same names hundreds of times. */
async function sendMetrics({ request, answer }: Exchange, text: string): Promise<void> {
  const packs = /(^|[\s,])gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))|,|$)/.test(request.headers['accept-encoding'] ?? '');
  if (!packs) return answer({ status: 200, body: text, type: METRICS_TYPE });
  const body = await promisify(gzip)(text);
  answer({ status: 200, body, type: METRICS_TYPE, headers: { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' } });
}

function statisticsRoutes({ statistics }: PlainPagesDeps): readonly Route[] {
  return [
    open('stats', '/stats/summary', STATS, async ({ query, signal, answer }) =>
      answer(jsonAnswer(await statistics.summary(query, signal))),
    ),
    open('stats', '/metrics/cadvisor', METRICS, async (exchange) =>
      sendMetrics(exchange, await statistics.cadvisorMetrics(exchange.signal)),
    ),
    open('stats', '/metrics/resource', METRICS, async (exchange) =>
      sendMetrics(exchange, await statistics.resourceMetrics(exchange.signal)),
    ),
    // The reference keeps the right and has nothing behind it any more.
    open('stats', '/spec/', SPEC, ({ answer }) => answer(errorPage(404, '404 page not found'))),
  ];
}

const LONGEST_LEVEL = 32;

async function setVerbosity({ request, answer, log, user }: Exchange, deps: PlainPagesDeps): Promise<void> {
  const text = (status: number, body: string) =>
    answer({ status, body, type: 'text/plain', headers: { 'X-Content-Type-Options': 'nosniff' } });
  if (request.method !== 'PUT') return text(406, 'unsupported http method');
  const asked = await readBody(request, LONGEST_LEVEL).catch(() => undefined);
  if (asked === undefined || !/^\d{1,9}$/.test(asked))
    return text(
      400,
      `the level of the log must be a whole number such as 4 (found ${JSON.stringify(asked ?? 'more than 32 bytes')})`,
    );
  if (deps.setVerbosity === undefined) return text(501, 'the log of this kubelet is not its own');
  deps.setVerbosity(Number(asked));
  log.info('The verbosity of the log was set', { level: Number(asked), user: user.name });
  text(200, `successfully set klog.logging.verbosity to ${asked}`);
}
