/** The health port (10248): `/healthz` and a page for each check. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Part } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/logger.ts';
import { linkSignal } from '../../base/signal.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { askHealth, isHealthPath } from './ask.ts';
import type { HealthChecks } from './checks.ts';
import type { PageAnswer } from './page.ts';

export interface HealthConfig {
  readonly address: string;
  /** 0: no server. */
  readonly port: number;
}

export interface HealthDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly checks: HealthChecks;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

export function createHealthServer(config: HealthConfig, deps: HealthDeps): Part {
  let server: Server | undefined;
  let retrying: Promise<void> = Promise.resolve();
  return {
    name: 'health server',
    start: async (signal) => {
      if (config.port === 0) return;
      const failure = await open(signal);
      // The port may still be held by the kubelet that this one replaces: not a reason to stop, but to say so and try again.
      if (failure !== undefined) retrying = retry(failure, signal);
    },
    stop: async () => {
      await retrying;
      await close(server);
    },
  };

  async function open(signal: AbortSignal): Promise<unknown> {
    const attempt = createServer((request, response) => void answer(request, response, deps, signal));
    const failure = await listen(attempt, config);
    if (failure !== undefined) return failure;
    server = attempt;
    deps.log.v(2)?.info('Serving health checks', { address: `${config.address}:${config.port}` });
    return undefined;
  }

  async function retry(first: unknown, signal: AbortSignal): Promise<void> {
    let failure = first;
    let wait = FIRST_RETRY_MS;
    const rest = async (): Promise<void> => {
      deps.log.error('Failed to start healthz server', { err: failure, retryInMs: wait });
      await deps.clock.sleep(wait, signal);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    };
    const pass = async (): Promise<void> => {
      failure = await open(signal);
    };
    const isDone = () => failure === undefined;
    await deps.supervisor.run({ name: 'health server listen', restFirst: true, pass, rest, isDone }, signal);
  }
}

function listen(server: Server, { address, port }: HealthConfig): Promise<Error | undefined> {
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen({ host: address, port }, () => {
      server.removeListener('error', resolve);
      resolve(undefined);
    });
  });
}

function close(server: Server | undefined): Promise<void> {
  if (server === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  deps: HealthDeps,
  stopping: AbortSignal,
): Promise<void> {
  using asked = linkSignal(stopping);
  response.once('close', () => asked.abort(new Error('nobody waits for the answer')));
  try {
    send(request, response, await route(request, deps, asked.signal));
  } catch (error) {
    deps.log.error('Failed to answer a request of the health port', { err: error, path: request.url });
    send(request, response, { status: 500, body: `internal server error: ${describeError(error)}\n` });
  }
}

async function route(request: IncomingMessage, deps: HealthDeps, signal: AbortSignal): Promise<PageAnswer> {
  // Not resolved like a link: two slashes at the start are a path that nobody serves, not another host.
  const [pathname = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  if (!isHealthPath(pathname, deps.checks)) return NOT_FOUND;
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'Method Not Allowed\n' };
  return (await askHealth(deps, { path: pathname, query: new URLSearchParams(query) }, signal)) ?? NOT_FOUND;
}

const NOT_FOUND: PageAnswer = { status: 404, body: '404 page not found\n' };

function send(request: IncomingMessage, response: ServerResponse, answered: PageAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(answered.status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(answered.body),
    ...(answered.status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : answered.body);
}
