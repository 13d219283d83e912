/**
 * Authenticates a request by client certificate or bearer token, or as anonymous. A wrong credential is refused even if anonymous
 * access is on: a caller with a credential does not mean to be anonymous.
 */
import { codeOf, describeError } from '../../base/errors.ts';
import type { User } from '../routes.ts';
import { TOKEN_PROTOCOL } from '../rules/token-protocol.ts';
import type { TokenReviews } from './reviews.ts';

/** The client of a connection, at the time of the request. */
export type ClientCertificate =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'verified';
      readonly commonName: string;
      readonly organizations: readonly string[];
      readonly uid?: string;
    };

export interface Credentials {
  readonly certificate: ClientCertificate;
  /** The Authorization header. */
  readonly authorization: string | undefined;
  /** The sub-protocols of a WebSocket: browsers can't send headers, so a token may be among them. */
  readonly protocols: string | undefined;
  /** The address of the client. */
  readonly from: string;
}

export type Authentication =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Too many token reviews are waiting. */
  | { readonly kind: 'busy' };

export interface AuthenticateDeps {
  readonly anonymous: boolean;
  /** Absent: there are no token reviews. */
  readonly reviewToken?: TokenReviews | undefined;
  /**
   * Whether `reviewToken` knows every valid token, as the API server does: an unknown one is then wrong. Otherwise
   * the token may belong to another authority, and its bearer is a caller without credentials.
   */
  readonly knowsAllTokens: boolean;
}

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const EVERY_USER = 'system:authenticated';

export type Authenticate = (credentials: Credentials, signal: AbortSignal) => Promise<Authentication>;

export function createAuthenticate({ anonymous, reviewToken, knowsAllTokens }: AuthenticateDeps): Authenticate {
  return async ({ certificate, authorization, protocols, from }, signal) => {
    const reasons: string[] = [];
    if (certificate.kind === 'verified' && certificate.commonName !== '')
      return { kind: 'user', user: certified(certificate) };
    if (certificate.kind === 'refused') reasons.push(`client certificate: ${certificate.reason}`);
    const token = bearerToken(authorization) ?? protocolToken(protocols);
    if (token !== undefined && reviewToken !== undefined) {
      try {
        const user = await reviewToken(token, from, signal);
        if (user !== undefined) return { kind: 'user', user: withGroup(user) };
        if (knowsAllTokens || !anonymous) reasons.push('invalid bearer token');
      } catch (error) {
        if (codeOf(error) === 'exhausted') return { kind: 'busy' };
        reasons.push(`bearer token: ${describeError(error)}`);
      }
    }
    if (reasons.length > 0) return { kind: 'refused', reason: reasons.join('; ') };
    return anonymous ? { kind: 'user', user: ANONYMOUS } : { kind: 'refused', reason: 'no credentials' };
  };
}

function certified({ commonName, organizations, uid }: Extract<ClientCertificate, { kind: 'verified' }>): User {
  return withGroup({ name: commonName, groups: organizations, ...(uid !== undefined && { uid }) });
}

function withGroup(user: User): User {
  if (user.name === ANONYMOUS.name || user.groups.includes(EVERY_USER)) return user;
  return { ...user, groups: [...user.groups, EVERY_USER] };
}

/** `Bearer TOKEN`, in any case, with any space around it. */
export function bearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (header ?? '').trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

export function protocolToken(header: string | undefined): string | undefined {
  const named = (header ?? '').split(',').map((item) => item.trim());
  const encoded = named.find((item) => item.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length) ?? '';
  if (!/^[\w-]+$/.test(encoded)) return undefined;
  const token = Buffer.from(encoded, 'base64url').toString('utf8');
  return token === '' ? undefined : token;
}
