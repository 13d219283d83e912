/** The health port (10248): `/healthz` and a page for each check. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Part } from '../../base/lifecycle.ts';
import type { Logger } from '../../base/logger.ts';
import { linkSignal } from '../../base/signal.ts';
import type { Supervisor } from '../../base/supervise.ts';
import { createConnections } from '../connections.ts';
import { PLAIN_LIMITS, type Port, plainPort } from '../port.ts';
import { shownTarget } from '../rules/log-text.ts';
import type { Serve } from '../serve.ts';
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
/** On loopback all clients have the same address, so a limit for each address would only be a lower limit for all. */
const HEALTH_LIMITS = { ...PLAIN_LIMITS, mostUnauthenticatedOfAddress: PLAIN_LIMITS.mostUnauthenticated };

export function createHealthServer(config: HealthConfig, deps: HealthDeps): Part {
  let port: Port | undefined;
  let retrying: Promise<void> = Promise.resolve();
  return {
    name: 'health server',
    start: async (signal) => {
      if (config.port === 0) return;
      port = createHealthPort(config, deps, signal);
      const failure = await port.listen();
      // The kubelet that this one replaces may still use the port: it is logged and retried.
      if (failure === undefined) serving();
      else retrying = retry(port, failure, signal);
    },
    stop: async () => {
      await retrying;
      await port?.close();
    },
  };

  function serving(): void {
    deps.log.v(2)?.info('Serving health checks', { address: `${config.address}:${config.port}` });
  }

  async function retry(listening: Port, first: Error, signal: AbortSignal): Promise<void> {
    let failure: Error | undefined = first;
    let wait = FIRST_RETRY_MS;
    const rest = async (): Promise<void> => {
      deps.log.error('Failed to start healthz server', { err: failure, retryInMs: wait });
      await deps.clock.sleep(wait, signal);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    };
    const pass = async (): Promise<void> => {
      failure = await listening.listen();
      if (failure === undefined) serving();
    };
    const isDone = () => failure === undefined;
    await deps.supervisor.run({ name: 'health server listen', restFirst: true, pass, rest, isDone }, signal);
  }
}

/** With the limits of the read-only port: it is open to every caller, and few use it. */
function createHealthPort(config: HealthConfig, deps: HealthDeps, stopping: AbortSignal): Port {
  const serve: Serve = {
    request: (request, response) => void answer(request, response, deps, stopping),
    upgrade: (_request, socket) => void socket.destroy(),
    takesUpgrade: () => false,
  };
  return plainPort(config, { serve, connections: createConnections(HEALTH_LIMITS, () => undefined) }, HEALTH_LIMITS);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  deps: HealthDeps,
  stopping: AbortSignal,
): Promise<void> {
  using visit = linkSignal(stopping);
  response.once('close', () => visit.abort(new Error('the client has disconnected')));
  try {
    send(request, response, await route(request, deps, visit.signal));
  } catch (error) {
    deps.log.error('Failed to answer a request of the health port', {
      err: error,
      uri: shownTarget(request.url ?? ''),
    });
    send(request, response, { status: 500, body: `internal server error: ${describeError(error)}\n` });
  }
}

async function route(request: IncomingMessage, deps: HealthDeps, signal: AbortSignal): Promise<PageAnswer> {
  // Not resolved like a link: two slashes at the start are an unknown path, not another host.
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
