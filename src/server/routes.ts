/**
 * What a path of the kubelet's ports is, as data: who may use it, on which port, under which switch, and what answers. The
 * table of all routes drives the router, the authorization and the tests, so a new endpoint can't be forgotten in one of them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../base/logger.ts';

/** Who asks, as authentication found out. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The right that a request needs: a verb on a subresource of this node. */
export interface Access {
  /** Asked for first, where fine-grained authorization is on; who hasn't it may still have `subresource`. */
  readonly fineGrained?: string;
  readonly subresource: string;
  /**
   * `method`: get for GET, create for POST, and so on. `create`: whatever the method. `stream`: create too, since the request starts
   * or enters a process although a WebSocket's upgrade is a GET; by the method only where an administrator asked for the reference's rule.
   */
  readonly verb: 'method' | 'create' | 'stream';
}

/** What has to be switched on in the configuration; `debugging` is needed for all but `always`. */
export type Switch = 'always' | 'debugging' | 'systemLogs' | 'profiling' | 'debugFlags' | 'heapSnapshots';

export interface Answer {
  readonly status: number;
  readonly body?: string | Uint8Array;
  /** Content type; `text/plain; charset=utf-8` unless told. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Asked {
  readonly request: IncomingMessage;
  /** The path without its query, decoded. */
  readonly path: string;
  /** By the names in the route's pattern, decoded, never empty. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly user: User;
  /** Aborts when the client has gone or the server stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Answers in one piece. On an upgrade: refuses it with this, and closes. May be called once, and not after `response` was used. */
  answer(answer: Answer): void;
}

export interface Exchange extends Asked {
  /** For answers that stream: write the head, then as the client takes it (`drain`). */
  readonly response: ServerResponse;
}

/**
 * A request with `Connection: Upgrade`. Whoever takes it owns the socket from then on, and writes the 101 itself; it must close it
 * when the signal aborts. The server ends sockets that were idle for `streamingConnectionIdleTimeout`.
 */
export interface UpgradeExchange extends Asked {
  readonly socket: Socket;
  /** The bytes that came with the request's head; they belong before everything that the socket gives. */
  readonly head: Buffer;
}

export interface Route {
  /** For tables and messages, such as `exec`. Several routes may share one. */
  readonly name: string;
  readonly methods: readonly string[];
  /**
   * Segments in braces are parameters, each at least one character and no slash. A last segment `{name:*}` takes the rest with its
   * slashes, which may be empty. A pattern that ends in a slash is also reached without it, by a redirect.
   */
  readonly pattern: string;
  readonly access: Access;
  /** `both`: on the read-only port too. */
  readonly port: 'secure' | 'both';
  readonly switch: Switch;
  /** A line in the log for each use: who, what, how it ended. */
  readonly audited?: boolean;
  /** The query may be as long as the head of a request: a command is in it. */
  readonly longQuery?: boolean;
  handle(exchange: Exchange): Promise<void> | void;
  /** Absent: an upgrade is answered by `handle` as if the header were not there. */
  upgrade?(exchange: UpgradeExchange): Promise<void> | void;
}

/** The right of what has none of its own. */
export const PROXY: Access = { subresource: 'proxy', verb: 'method' };
/** The right of what starts or enters a process of a pod. */
export const PROXY_STREAM: Access = { subresource: 'proxy', verb: 'stream' };
/** The right of what reveals more than a reader of this node's metrics and pods may see. */
export const PROXY_CREATE: Access = { subresource: 'proxy', verb: 'create' };

/** A plain text, as the reference answers errors of its handlers: no newline, and the text is shown to users of kubectl. */
export function textAnswer(status: number, text: string): Answer {
  return { status, body: text };
}

/** A plain text with a newline and against sniffing, as the reference answers for whole endpoints. */
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

/** A Status object: clients such as kubectl show its message, and programs find the reason. */
export function statusAnswer({ code, reason, message, details }: Failure): Answer {
  return jsonAnswer(
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details && { details }),
      code,
    },
    code,
  );
}

/** The answer for a pod, container or file that isn't here. */
export function notFound(message: string, details?: Failure['details']): Answer {
  return statusAnswer({ code: 404, reason: 'NotFound', message, ...(details && { details }) });
}
