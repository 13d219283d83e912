/** The audit log of a port: each request that enters a process or reveals secrets, with its user and outcome, in short lines. */
import type { IncomingMessage } from 'node:http';
import type { Logger } from '../base/logger.ts';
import { createTokenBucket } from '../base/token-bucket.ts';
import type { User } from './routes.ts';
import { shownGroups, shownName, shownTarget } from './rules/log-text.ts';

export interface Audited {
  readonly request: IncomingMessage;
  readonly method: string;
  /** The client's address: the socket may be closed once the answer is sent. */
  readonly from: string;
  readonly user: User;
  /** The verb of the authorization; empty before it. */
  readonly verb: string;
  /** Refused, and not authenticated. */
  readonly isUnauthenticated: boolean;
}

export interface Outcome {
  readonly status: number;
  readonly tookMs: number;
}

export interface Audit {
  /** Before the answer too: a session may last for hours, and its last line is lost if the kubelet ends first. */
  received(action: string, audited: Audited): void;
  over(action: string, audited: Audited, outcome: Outcome): void;
  /** The line of a request that needs no audit, at verbosity 4. */
  plain(audited: Audited, outcome: Outcome): void;
  /** The reason why a request was not authenticated, at verbosity 2. */
  unauthenticated(audited: Audited, reason: string): void;
}

/** Lines about unauthenticated callers: enough to see an attack, too few to fill a disk. */
const STRANGER_LINES = { burst: 50, perSecond: 5 };

export function createAudit(log: Logger, mono: () => number): Audit {
  const ofAudit = createStrangerLines(mono);
  const ofReasons = createStrangerLines(mono);
  return {
    received: (action, audited) => {
      const { groups } = audited.user;
      log.info('Audit', { stage: 'RequestReceived', action, ...whoAndWhat(audited), groups: shownGroups(groups) });
    },
    over: (action, audited, outcome) => {
      const unlogged = audited.isUnauthenticated ? ofAudit.next() : {};
      if (unlogged === undefined) return;
      log.info('Audit', { stage: 'ResponseComplete', action, ...whoAndWhat(audited), ...result(outcome), ...unlogged });
    },
    plain: (audited, outcome) => log.v(4)?.info('HTTP', { ...whoAndWhat(audited), ...result(outcome) }),
    unauthenticated: ({ request, from }, reason) => {
      const detailed = log.v(2);
      const unlogged = detailed && ofReasons.next();
      if (unlogged === undefined) return;
      const uri = shownTarget(request.url ?? '');
      detailed?.info('Unable to authenticate the request', { reason: shownName(reason), uri, from, ...unlogged });
    },
  };
}

/** How many lines were omitted since the last one, if any; undefined: this one is omitted too. */
function createStrangerLines(mono: () => number): { next(): { readonly unlogged?: number } | undefined } {
  const bucket = createTokenBucket(STRANGER_LINES, mono());
  let unlogged = 0;
  return {
    next: () => {
      if (!bucket.take(mono())) {
        unlogged += 1;
        return undefined;
      }
      const before = unlogged;
      unlogged = 0;
      return before > 0 ? { unlogged: before } : {};
    },
  };
}

function whoAndWhat({ request, method, from, user, verb }: Audited) {
  const agent = request.headers['user-agent'];
  return {
    user: shownName(user.name),
    method: shownName(method),
    verb,
    uri: shownTarget(request.url ?? ''),
    from,
    ...(agent !== undefined && { userAgent: shownName(agent) }),
  };
}

const result = ({ status, tookMs }: Outcome) => ({ status, latency: `${Math.round(tookMs)}ms` });
