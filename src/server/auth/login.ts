/** Who sends a request to a port that asks only some of its callers: by the bearer token of a header, or by that among the protocols of a WebSocket. */
import type { IncomingMessage } from 'node:http';
import type { User } from '../routes.ts';
import { createAuthenticate } from './authenticate.ts';
import { ADMINISTRATORS } from './authorize.ts';
import { ensureNodeToken, reviewNodeToken } from './node-token.ts';
import type { TokenReviews } from './reviews.ts';

/** Undefined: it has no valid token. */
export type Login = (request: IncomingMessage, signal: AbortSignal) => Promise<User | undefined>;

export function createLogin(review: TokenReviews): Login {
  const authenticate = createAuthenticate({ anonymous: false, reviewToken: review, knowsAllTokens: true });
  return async ({ headers, socket }, signal) => {
    const found = await authenticate(
      {
        certificate: { kind: 'none' },
        authorization: headers.authorization,
        protocols: headers['sec-websocket-protocol'],
        from: socket.remoteAddress ?? '',
      },
      signal,
    );
    return found.kind === 'user' ? found.user : undefined;
  };
}

export const mayWrite = ({ groups }: User): boolean => groups.includes(ADMINISTRATORS);

/** The token of a node without a cluster and without a local API; the file is read when someone logs in. */
export function reviewTokenOfFile(file: string): TokenReviews {
  return async (...asked) => await reviewNodeToken(await ensureNodeToken(file))(...asked);
}
