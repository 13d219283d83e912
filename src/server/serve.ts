/** Handles one request: finds its route, authenticates and authorizes it, then calls the handler of the route. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import { answerOn, answerRaw } from './answer.ts';
import { type Audit, createAudit } from './audit.ts';
import type { Authenticate, ClientCertificate } from './auth/authenticate.ts';
import { ANONYMOUS } from './auth/authenticate.ts';
import type { Authorize, Verdict } from './auth/authorize.ts';
import type { Connections } from './connections.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type Access, type Answer, notFound, textAnswer, type User } from './routes.ts';
import { shownName, shownTarget } from './rules/log-text.ts';
import { foreignRequest } from './rules/own-names.ts';
import { isTooLong, type Match, type Router, splitTarget, verbOf } from './rules/router.ts';

/** Absent: a port that is open to all callers. */
export interface Guard {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly clientCertificate: (request: IncomingMessage) => ClientCertificate;
  /** Streams need the verb of their method, as in the reference, instead of `create`. */
  readonly streamsByMethod: boolean;
}

export interface ServeDeps {
  readonly log: Logger;
  readonly mono: () => number;
  readonly route: Router;
  readonly guard: Guard | undefined;
  readonly metrics: RequestMetrics;
  readonly connections: Pick<Connections, 'letIn' | 'isKnown'>;
  /** The name of a node without a cluster: requests that other sites make browsers send are refused. Undefined: no check. */
  readonly ownName: string | undefined;
  /** Milliseconds without a byte after which an upgraded connection is closed; 0: never. */
  readonly streamIdleMs: number;
  /** Called for each accepted upgrade, for metrics. */
  readonly onUpgrade: (route: string, request: IncomingMessage) => void;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** One request under way. */
interface Visit {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly began: number;
  /** The client's address: the socket may be closed once the answer is sent. */
  readonly from: string;
  readonly linked: LinkedSignal;
  /** Undefined: an invalid request line. */
  readonly target: Target | undefined;
  /** Undefined before the answer is decided. */
  status: number | undefined;
  user: User;
  /** The verb of authorization, as soon as it is known. */
  verb: string;
  /** The name of the action in the audit log; undefined: it is not audited. */
  action: string | undefined;
  /** Refused, and not authenticated. */
  isUnauthenticated: boolean;
  answer(answer: Answer): void;
  run(match: Extract<Match, { kind: 'route' }>, target: Target): Promise<void> | void;
}

type Denied = Extract<Verdict, { kind: 'denied' }>;
type Unanswered = Extract<Verdict, { kind: 'unknown' }>;

interface Target {
  readonly path: string;
  readonly query: string;
}

export interface Serve {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  /** Whether the requested upgrade is supported. */
  takesUpgrade(request: IncomingMessage): boolean;
}

const BAD_TARGET = textAnswer(400, '400 Bad Request');
const LONG_TARGET = textAnswer(414, '414 URI Too Long');

/** Plus the state of one port. */
interface Parts extends ServeDeps {
  readonly audit: Audit;
}

export function createServe(given: ServeDeps): Serve {
  const deps: Parts = { ...given, audit: createAudit(given.log, given.mono) };
  return {
    request: (request, response) => {
      const { socket } = request;
      const visit = plainVisit(request, response, deps);
      const over = deps.metrics.began(visit.method, visit.target?.path ?? '');
      response.once('close', () => {
        over();
        visit.linked.abort(new Error('the client has disconnected'));
        // The rest of an unread body must not become the next request, nor be read for long.
        if (!request.complete) socket.destroy();
        finish(visit, response.statusCode, deps);
      });
      void guide(visit, deps);
    },
    upgrade: (request, socket, head) => {
      const visit = upgradeVisit(request, socket, { head, deps });
      const over = deps.metrics.began(visit.method, visit.target?.path ?? '');
      socket.once('close', () => {
        over();
        visit.linked.abort(new Error('the connection is closed'));
        finish(visit, 101, deps);
      });
      if (deps.streamIdleMs > 0) socket.setTimeout(deps.streamIdleMs, () => socket.destroy());
      deps.onUpgrade(visit.target?.path.split('/')[1] ?? '', request);
      void guide(visit, deps);
    },
    takesUpgrade: (request) => {
      const target = splitTarget(request.url ?? '');
      const match = target && deps.route(request.method ?? '', target.path);
      return match?.kind === 'route' && match.route.upgrade !== undefined;
    },
  };
}

function newVisit(request: IncomingMessage, deps: Parts) {
  const { method = '', socket } = request;
  return {
    request,
    method,
    began: deps.mono(),
    from: socket.remoteAddress ?? '',
    linked: linkSignal(deps.stopping),
    target: splitTarget(request.url ?? ''),
    status: undefined,
    user: ANONYMOUS,
    verb: '',
    action: undefined,
    isUnauthenticated: false,
  };
}

function plainVisit(request: IncomingMessage, response: ServerResponse, deps: Parts): Visit {
  const visit: Visit = {
    ...newVisit(request, deps),
    answer: (answer) => {
      visit.status = answer.status;
      answerOn(response, visit.method, answer);
    },
    run: ({ route, parameters }, target) => route.handle({ ...contextOf(visit, target, deps), parameters, response }),
  };
  return visit;
}

function upgradeVisit(request: IncomingMessage, socket: Socket, { head, deps }: { head: Buffer; deps: Parts }): Visit {
  const visit: Visit = {
    ...newVisit(request, deps),
    answer: (answer) => {
      visit.status = answer.status;
      answerRaw(socket, answer);
    },
    run: ({ route, parameters }, target) =>
      route.upgrade?.({ ...contextOf(visit, target, deps), parameters, socket, head }),
  };
  return visit;
}

function contextOf(visit: Visit, { path, query }: Target, deps: Parts) {
  const { request, user, linked, answer } = visit;
  return { request, path, query: new URLSearchParams(query), user, signal: linked.signal, log: deps.log, answer };
}

async function guide(visit: Visit, deps: Parts): Promise<void> {
  try {
    await walk(visit, deps);
  } catch (error) {
    // A client that has disconnected needs no answer, and that is no error.
    if (visit.linked.signal.aborted) return;
    const uri = shownTarget(visit.request.url ?? '');
    deps.log.error('Failed to answer a request', { err: error, method: visit.method, uri });
    const text = describeError(error);
    visit.answer(codeOf(error) === 'notFound' ? notFound(text) : textAnswer(500, text));
  }
}

async function walk(visit: Visit, deps: Parts): Promise<void> {
  const { target, request } = visit;
  if (target === undefined) return turnAway(visit, BAD_TARGET, deps);
  const match = deps.route(visit.method, target.path);
  const route = match.kind === 'route' ? match.route : undefined;
  if (isTooLong(request.url ?? '', route)) return turnAway(visit, LONG_TARGET, deps);
  const foreign = fromForeignSite(request, deps);
  if (foreign !== undefined) return turnAway(visit, textAnswer(403, foreign), deps);
  if (match.kind === 'nowhere') return turnAway(visit, withQuery(match.answer, target.query), deps);
  if (route?.audited) visit.action = route.name;
  const access = match.kind === 'route' ? match.route.access : match.access;
  const refusal = deps.guard && (await refuse(visit, access, deps.guard, deps));
  visit.isUnauthenticated = refusal !== undefined && visit.user.name === ANONYMOUS.name;
  if (visit.action !== undefined && !visit.isUnauthenticated) deps.audit.received(visit.action, visit);
  if (refusal !== undefined) return turnAway(visit, refusal, deps);
  if (deps.guard !== undefined) deps.connections.letIn(request.socket, visit.user.name !== ANONYMOUS.name);
  if (match.kind === 'closed') return visit.answer(match.answer);
  await visit.run(match, target);
}

function fromForeignSite({ headers, socket }: IncomingMessage, { ownName }: Parts): string | undefined {
  if (ownName === undefined) return undefined;
  const { host, origin } = headers;
  return foreignRequest({ host, origin }, { nodeName: ownName, localAddress: socket.localAddress ?? '' });
}

function withQuery(answer: Answer, query: string): Answer {
  const location = answer.headers?.['Location'];
  return location === undefined || query === '' ? answer : { ...answer, headers: { Location: `${location}?${query}` } };
}

const UNAUTHORIZED = textAnswer(401, 'Unauthorized');
const FORBIDDEN = 403;
const BUSY: Answer = { ...textAnswer(429, 'Too many tokens are being reviewed'), headers: { 'Retry-After': '1' } };

/** A refused request closes its connection to make room for others, unless its user is authenticated and only the path is unknown. */
function turnAway(visit: Visit, answer: Answer, { guard, connections }: Parts): void {
  const isRefused = answer.status === UNAUTHORIZED.status || answer.status === FORBIDDEN;
  const stays = guard === undefined || (connections.isKnown(visit.request.socket) && !isRefused);
  visit.answer(stays ? answer : { ...answer, headers: { ...answer.headers, Connection: 'close' } });
}

/** Why this request is refused; undefined: it is not. */
async function refuse(visit: Visit, access: Access, guard: Guard, deps: Parts): Promise<Answer | undefined> {
  const { request, linked } = visit;
  const found = await guard.authenticate(
    {
      certificate: guard.clientCertificate(request),
      authorization: request.headers.authorization,
      protocols: request.headers['sec-websocket-protocol'],
      from: visit.from,
    },
    linked.signal,
  );
  if (found.kind === 'busy') return BUSY;
  if (found.kind === 'refused') {
    deps.audit.unauthenticated(visit, found.reason);
    return UNAUTHORIZED;
  }
  visit.user = found.user;
  visit.verb = verbOf(access, visit.method, guard.streamsByMethod);
  const verdict = await guard.authorize(found.user, visit.verb, access, linked.signal);
  if (verdict.kind === 'allowed') return undefined;
  return verdict.kind === 'unknown' ? notAnswered(visit, verdict, deps) : forbidden(visit, verdict, deps);
}

function notAnswered(visit: Visit, { subresource, reason }: Unanswered, { log }: Parts): Answer {
  const { user, verb } = visit;
  log.error('Authorization error', { err: reason, user: shownName(user.name), verb, subresource });
  return textAnswer(500, `Authorization error (${whoWants(visit)}, subresource=${subresource})`);
}

function forbidden(visit: Visit, verdict: Denied, { log }: Parts): Answer {
  const subresources = verdict.subresources.join(' ');
  const { user, verb } = visit;
  log.v(2)?.info('Forbidden', { user: shownName(user.name), verb, resource: 'nodes', subresources });
  return textAnswer(FORBIDDEN, `Forbidden (${whoWants(visit)}, subresource(s)=[${subresources}])\n`);
}

const whoWants = ({ user, verb }: Visit) => `user=${user.name}, verb=${verb}, resource=nodes`;

function finish(visit: Visit, status: number, { audit, mono }: Parts): void {
  visit.linked[Symbol.dispose]();
  const outcome = { status: visit.status ?? status, tookMs: mono() - visit.began };
  if (visit.action === undefined) audit.plain(visit, outcome);
  else audit.over(visit.action, visit, outcome);
}
