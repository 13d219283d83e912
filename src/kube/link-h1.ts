/** A link to a server or a proxy with HTTP/1.1 only: one socket for each call under way, kept for the next one. */
import { type Agent, type ClientRequest, request } from 'node:http';
import type { Socket } from 'node:net';
import { CodedError, codeOf } from '../base/errors.ts';
import { awaitReply } from '../wire/http-reply.ts';
import type { Call, Link } from './link.ts';
import { type LinkEvent, type LinkLife, nextLinkLife } from './rules/link-life.ts';
import { createSocketPool } from './socket-pool.ts';

export interface Http1Deps {
  /** Opens one more socket of the kind of the first. */
  readonly openSocket: () => Promise<Socket>;
  readonly authority: string;
}

export function createHttp1Link(first: Socket, deps: Http1Deps): Link {
  const pool = createSocketPool(first, deps.openSocket);
  /** Each call under way, and whether it is endless. */
  const calls = new Map<ClientRequest, boolean>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  let life: LinkLife = 'open';
  let suspect: () => void = () => undefined;

  const happen = (event: LinkEvent) => {
    const next = nextLinkLife(life, event, calls.size);
    life = next.life;
    const { effect } = next;
    if (effect.kind === 'cutEndless') for (const [call, endless] of calls) if (endless) call.destroy(effect.reason);
    if (effect.kind === 'destroy') for (const call of calls.keys()) call.destroy(effect.reason);
    if (life !== 'closed' || effect.kind === 'none') return;
    pool.destroy();
    close();
  };
  return {
    open: async (call, signal) => {
      signal.throwIfAborted();
      const outgoing = send(pool.agent, call, deps.authority);
      calls.set(outgoing, call.endless);
      outgoing.once('close', () => {
        calls.delete(outgoing);
        happen({ kind: 'callOver' });
      });
      try {
        return await awaitReply(outgoing, signal);
      } catch (cause) {
        if (!signal.aborted)
          throw new CodedError('unavailable', 'the connection to the API server was lost', { cause });
        if (codeOf(signal.reason) === 'deadline') suspect();
        throw signal.reason;
      }
    },
    hasRoom: () => life === 'open',
    active: () => calls.size,
    retire: (reason) => happen({ kind: 'retire', reason }),
    destroy: (reason) => happen({ kind: 'destroy', reason }),
    received: pool.received,
    ping: undefined,
    closed,
    onSuspicion: (listener) => {
      suspect = listener;
    },
  };
}

function send(agent: Agent, { method, path, headers, body }: Call, authority: string): ClientRequest {
  const length = body === undefined ? {} : { 'content-length': body.length };
  const outgoing = request({ agent, method, path, headers: { host: authority, ...headers, ...length } });
  outgoing.end(body);
  return outgoing;
}
