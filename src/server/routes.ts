/**
 * The paths of the kubelet's ports as data: the permission, the port, the setting that enables it, and the handler. The
 * table of all routes is used by the router, the authorization and the tests, so a new endpoint can't be forgotten in one of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failureStatus } from '../api/status.ts';
import type { Logger } from '../base/logger.ts';

/** The user of a request, from authentication. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The permission that a request needs: a verb on a subresource of this node. */
export interface Access {
  /** Checked first if fine-grained authorization is on; a user without it may still have `subresource`. */
  readonly fineGrained?: string;
  readonly subresource: string;
  /**
   * `method`: get for GET, create for POST, and so on. `create`: for every method. `stream`: create too, since the request starts
   * or enters a process although a WebSocket's upgrade is a GET; by the method only if the configuration asks for the reference's rule.
   */
  readonly verb: 'method' | 'create' | 'stream';
}

/** The setting that enables it; all but `always` also need `debugging`. */
export type Switch = 'always' | 'debugging' | 'systemLogs' | 'profiling' | 'debugFlags' | 'heapSnapshots';

export interface Answer {
  readonly status: number;
  readonly body?: string | Uint8Array;
  /** Content type; `text/plain; charset=utf-8` by default. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RequestContext {
  readonly request: IncomingMessage;
  /** The path without its query, decoded. */
  readonly path: string;
  /** By the names in the route's pattern, decoded, never empty. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly user: User;
  /** Aborts when the client has disconnected or the server stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Answers in one piece. On an upgrade: refuses it with this, and closes. May be called once, and not after `response` was used. */
  answer(answer: Answer): void;
}

export interface Exchange extends RequestContext {
  /** For answers that stream: write the head, then at the pace of the client (`drain`). */
  readonly response: ServerResponse;
}

/**
 * A request with `Connection: Upgrade`. The handler owns the socket from then on, and writes the 101 itself; it must close it
 * when the signal aborts. The server ends sockets that were idle for `streamingConnectionIdleTimeout`.
 */
export interface UpgradeExchange extends RequestContext {
  readonly socket: Socket;
  /** Bytes that arrived with the head of the request; they come before everything read from the socket. */
  readonly head: Buffer;
}

export interface Route {
  /** For tables and messages, such as `exec`. Several routes may share one. */
  readonly name: string;
  readonly methods: readonly string[];
  /**
   * Segments in braces are parameters, each at least one character and no slash. A last segment `{name:*}` matches the rest with its
   * slashes, which may be empty. A pattern that ends in a slash is also reached without it, by a redirect.
   */
  readonly pattern: string;
  readonly access: Access;
  /** `both`: on the read-only port too. */
  readonly port: 'secure' | 'both';
  readonly switch: Switch;
  /** Log each request: the user, the action, the outcome. */
  readonly audited?: boolean;
  /** The query may be as long as the head of a request: a command is in it. */
  readonly longQuery?: boolean;
  handle(exchange: Exchange): Promise<void> | void;
  /** Absent: an upgrade is answered by `handle` as if it were a plain request. */
  upgrade?(exchange: UpgradeExchange): Promise<void> | void;
}

/** The permission for paths without their own. */
export const PROXY: Access = { subresource: 'proxy', verb: 'method' };
/** The permission for starting or entering a process of a pod. */
export const PROXY_STREAM: Access = { subresource: 'proxy', verb: 'stream' };
/** The permission for pages that reveal more than this node's metrics and pods. */
export const PROXY_CREATE: Access = { subresource: 'proxy', verb: 'create' };

/** Plain text, as in the reference for errors of handlers: without a newline; kubectl shows it to users. */
export function textAnswer(status: number, text: string): Answer {
  return { status, body: text };
}

/** Plain text with a newline and a header against sniffing, as in the reference for whole endpoints. */
export function errorPage(status: number, text: string): Answer {
  return { status, body: `${text}\n`, headers: { 'X-Content-Type-Options': 'nosniff' } };
}

export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, body: typeof value === 'string' ? value : JSON.stringify(value), type: 'application/json' };
}

export interface Failure {
  readonly code: number;
  readonly reason:
    | 'NotFound'
    | 'BadRequest'
    | 'Forbidden'
    | 'Unauthorized'
    | 'InternalError'
    | 'NotImplemented'
    | 'NotAcceptable'
    | 'Expired';
  readonly message: string;
  readonly details?: { readonly name?: string; readonly kind?: string };
}

export function statusAnswer({ code, ...failure }: Failure): Answer {
  return jsonAnswer(failureStatus(code, failure), code);
}

/** The answer for an unknown pod, container or file. */
export function notFound(message: string, details?: Failure['details']): Answer {
  return statusAnswer({ code: 404, reason: 'NotFound', message, ...(details && { details }) });
}
