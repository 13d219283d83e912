/** The way of one request: find its route, find out who asks, whether they may, then let the route answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import { answerOn, answerRaw } from './answer.ts';
import type { Authenticate, ClientCertificate } from './auth/authenticate.ts';
import { ANONYMOUS } from './auth/authenticate.ts';
import type { Authorize } from './auth/authorize.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type Access, type Answer, notFound, type Route, textAnswer, type User } from './routes.ts';
import { type Match, type Router, splitTarget, verbOf } from './rules/router.ts';

/** Absent: a port that everybody may read. */
export interface Guard {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly clientCertificate: (request: IncomingMessage) => ClientCertificate;
  /** Streams need the right of their method, as in the reference, instead of `create`. */
  readonly streamsByMethod: boolean;
}

export interface ServeDeps {
  readonly log: Logger;
  readonly mono: () => number;
  readonly route: Router;
  readonly guard: Guard | undefined;
  readonly metrics: RequestMetrics;
  /** Milliseconds without a byte after which an upgraded connection is ended; 0: never. */
  readonly streamIdleMs: number;
  /** Told of each upgrade that is taken: for metrics. */
  readonly onUpgrade: (route: string, request: IncomingMessage) => void;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** One request on its way. */
interface Visit {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly began: number;
  /** Where the client is: the socket is gone when the answer is out. */
  readonly from: string;
  readonly linked: LinkedSignal;
  /** Undefined before the answer is decided. */
  status: number | undefined;
  user: User;
  answer(answer: Answer): void;
  run(match: Extract<Match, { kind: 'route' }>, target: Target): Promise<void> | void;
}

interface Target {
  readonly path: string;
  readonly query: string;
}

export interface Serve {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Whether the upgrade that a request asks for is one of ours. */
  takesUpgrade(request: IncomingMessage): boolean;
}

const BAD_TARGET = textAnswer(400, '400 Bad Request');

export function createServe(deps: ServeDeps): Serve {
  return {
    request: (request, response) => {
      const { socket } = request;
      const visit = plainVisit(request, response, deps);
      const over = deps.metrics.began(visit.method, splitTarget(request.url ?? '')?.path ?? '');
      response.once('close', () => {
        over();
        visit.linked.abort(new Error('nobody waits for the answer'));
        // The rest of a body that nobody read must not become the next request, nor keep us reading.
        if (!request.complete) socket.destroy();
        finish(visit, response.statusCode, deps);
      });
      void guide(visit, deps);
    },
    upgrade: (request, socket, head) => {
      const visit = upgradeVisit(request, socket, { head, deps });
      const over = deps.metrics.began(visit.method, splitTarget(request.url ?? '')?.path ?? '');
      socket.once('close', () => {
        over();
        visit.linked.abort(new Error('the connection is closed'));
        finish(visit, 101, deps);
      });
      // Node hands the socket over without anybody listening: an error would end the process.
      socket.on('error', () => socket.destroy());
      if (deps.streamIdleMs > 0) socket.setTimeout(deps.streamIdleMs, () => socket.destroy());
      deps.onUpgrade(splitTarget(request.url ?? '')?.path.split('/')[1] ?? '', request);
      void guide(visit, deps);
    },
    takesUpgrade: (request) => {
      const target = splitTarget(request.url ?? '');
      const match = target && deps.route(request.method ?? '', target.path);
      return match?.kind === 'route' && match.route.upgrade !== undefined;
    },
  };
}

function newVisit(request: IncomingMessage, deps: ServeDeps) {
  const { method = '', socket } = request;
  return {
    request,
    method,
    began: deps.mono(),
    from: socket.remoteAddress ?? '',
    linked: linkSignal(deps.stopping),
    status: undefined,
    user: ANONYMOUS,
  };
}

function plainVisit(request: IncomingMessage, response: ServerResponse, deps: ServeDeps): Visit {
  const visit: Visit = {
    ...newVisit(request, deps),
    answer: (answer) => {
      visit.status = answer.status;
      answerOn(response, visit.method, answer);
    },
    run: ({ route, parameters }, target) => route.handle({ ...asked(visit, target, deps), parameters, response }),
  };
  return visit;
}

function upgradeVisit(
  request: IncomingMessage,
  socket: Socket,
  { head, deps }: { head: Buffer; deps: ServeDeps },
): Visit {
  const visit: Visit = {
    ...newVisit(request, deps),
    answer: (answer) => {
      visit.status = answer.status;
      answerRaw(socket, answer);
    },
    run: ({ route, parameters }, target) =>
      route.upgrade?.({ ...asked(visit, target, deps), parameters, socket, head }),
  };
  return visit;
}

function asked(visit: Visit, { path, query }: Target, deps: ServeDeps) {
  const { request, user, linked, answer } = visit;
  return { request, path, query: new URLSearchParams(query), user, signal: linked.signal, log: deps.log, answer };
}

async function guide(visit: Visit, deps: ServeDeps): Promise<void> {
  try {
    await walk(visit, deps);
  } catch (error) {
    // Whoever left needs no answer, and leaving is no error.
    if (visit.linked.signal.aborted) return;
    deps.log.error('Failed to answer a request', { err: error, method: visit.method, uri: visit.request.url });
    const text = describeError(error);
    visit.answer(codeOf(error) === 'notFound' ? notFound(text) : textAnswer(500, text));
  }
}

async function walk(visit: Visit, deps: ServeDeps): Promise<void> {
  const target = splitTarget(visit.request.url ?? '');
  if (target === undefined) return visit.answer(BAD_TARGET);
  const match = deps.route(visit.method, target.path);
  if (match.kind === 'nowhere') return visit.answer(withQuery(match.answer, target.query));
  const access = match.kind === 'route' ? match.route.access : match.access;
  const refusal = deps.guard && (await refuse(visit, access, deps.guard, deps));
  if (match.kind === 'route' && match.route.audited) audit(visit, match.route, deps);
  if (refusal !== undefined) return visit.answer(refusal);
  if (match.kind === 'closed') return visit.answer(match.answer);
  await visit.run(match, target);
}

function withQuery(answer: Answer, query: string): Answer {
  const location = answer.headers?.['Location'];
  return location === undefined || query === '' ? answer : { ...answer, headers: { Location: `${location}?${query}` } };
}

const UNAUTHORIZED = textAnswer(401, 'Unauthorized');

/** Why this request may not go on; undefined: it may. */
async function refuse(visit: Visit, access: Access, guard: Guard, deps: ServeDeps): Promise<Answer | undefined> {
  const { request, linked } = visit;
  const found = await guard.authenticate(
    {
      certificate: guard.clientCertificate(request),
      authorization: request.headers.authorization,
      protocols: request.headers['sec-websocket-protocol'],
    },
    linked.signal,
  );
  if (found.kind === 'refused') {
    deps.log.v(2)?.info('Unable to authenticate the request', { reason: found.reason, uri: request.url });
    return UNAUTHORIZED;
  }
  visit.user = found.user;
  const verb = verbOf(access, visit.method, guard.streamsByMethod);
  const verdict = await guard.authorize(found.user, verb, access, linked.signal);
  if (verdict.kind === 'allowed') return undefined;
  const who = `user=${found.user.name}, verb=${verb}, resource=nodes`;
  if (verdict.kind === 'unknown') {
    deps.log.error('Authorization error', {
      err: verdict.reason,
      user: found.user.name,
      verb,
      subresource: verdict.subresource,
    });
    return textAnswer(500, `Authorization error (${who}, subresource=${verdict.subresource})`);
  }
  const subresources = verdict.subresources.join(' ');
  deps.log.v(2)?.info('Forbidden', { user: found.user.name, verb, resource: 'nodes', subresources });
  return textAnswer(403, `Forbidden (${who}, subresource(s)=[${subresources}])\n`);
}

/** Before the answer too: a session may last for hours, and a kubelet that ends takes its last line with it. */
function audit(visit: Visit, { name }: Route, { log }: ServeDeps): void {
  const { user, request, method, from } = visit;
  log.info('Audit', {
    stage: 'asked',
    action: name,
    user: user.name,
    groups: user.groups,
    method,
    uri: request.url,
    from,
  });
}

function finish(visit: Visit, status: number, deps: ServeDeps): void {
  visit.linked[Symbol.dispose]();
  const { request, method, user, from } = visit;
  const target = splitTarget(request.url ?? '');
  const match = target && deps.route(method, target.path);
  const took = `${Math.round(deps.mono() - visit.began)}ms`;
  const line = {
    user: user.name,
    method,
    uri: request.url,
    status: visit.status ?? status,
    latency: took,
    from,
  };
  if (match?.kind === 'route' && match.route.audited)
    deps.log.info('Audit', { stage: 'over', action: match.route.name, ...line });
  else deps.log.v(4)?.info('HTTP', line);
}
