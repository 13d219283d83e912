/** Tokens of service accounts: what may be asked for, and what a token says. */
import { type FieldError, forbidden, invalid } from '../../api/field-error.ts';
import { each, INT64, list, STRING, struct } from '../../api/object-schema.ts';
import { POD } from '../../api/pod-schema.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import { decodeBody } from './decode.ts';
import type { ApiObject } from './objects.ts';
import { mapOf } from './objects.ts';

const META = POD.fields['metadata'] ?? STRING;
const HEAD = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' } as const;
const SCHEMA = struct({
  ...each(STRING, 'apiVersion kind'),
  metadata: META,
  spec: struct({
    audiences: list(STRING),
    expirationSeconds: INT64,
    boundObjectRef: struct(each(STRING, 'kind apiVersion name uid')),
  }),
  status: struct(each(STRING, 'token expirationTimestamp')),
});

export interface TokenRequest {
  /** Of the service account, as the caller knows it; empty: any. */
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
}

const DEFAULT_SECONDS = 3600;
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;

export function readTokenRequest(body: unknown): {
  readonly request: TokenRequest;
  readonly faults: readonly FieldError[];
} {
  const { value } = decodeBody({ kind: HEAD.kind, version: 'v1', schema: SCHEMA }, body ?? {});
  const spec = mapOf(value['spec']);
  const bound = spec['boundObjectRef'] === undefined ? undefined : mapOf(spec['boundObjectRef']);
  const seconds = (spec['expirationSeconds'] as number | undefined) ?? DEFAULT_SECONDS;
  const text = (from: unknown): string => (typeof from === 'string' ? from : '');
  const kind = text(bound?.['kind']);
  const path = 'spec.expirationSeconds';
  return {
    request: {
      uid: text(mapOf(value['metadata'])['uid']),
      audiences: ((spec['audiences'] ?? []) as readonly string[]).map(text),
      expirationSeconds: seconds,
      bound: bound && { kind, name: text(bound['name']), uid: text(bound['uid']) },
    },
    faults: [
      ...(seconds < LEAST_SECONDS ? [invalid(path, seconds, 'may not specify a duration less than 10 minutes')] : []),
      ...(seconds > MOST_SECONDS
        ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
        : []),
      ...(bound !== undefined && kind !== 'Pod' && kind !== 'Secret' && kind !== 'Node'
        ? [forbidden('spec.boundObjectRef.kind', 'a token is bound to a Pod, Secret or Node')]
        : []),
    ],
  };
}

export interface TokenIdentity {
  readonly account: ApiObject;
  readonly issuer: string;
  readonly id: string;
  /** Milliseconds. */
  readonly now: number;
}

/** What is signed. */
export function claimsOf({ audiences, expirationSeconds, bound }: TokenRequest, identity: TokenIdentity): object {
  const { account, issuer, id, now } = identity;
  const { name, namespace = '', uid } = account.metadata;
  const seconds = Math.floor(now / 1000);
  const toWhat = bound && {
    [bound.kind.toLowerCase()]: { name: bound.name, ...(bound.uid !== '' && { uid: bound.uid }) },
  };
  return {
    aud: audiences.length === 0 ? [issuer] : audiences,
    exp: seconds + expirationSeconds,
    iat: seconds,
    iss: issuer,
    jti: id,
    'kubernetes.io': { namespace, ...toWhat, serviceaccount: { name, uid } },
    nbf: seconds,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
}

export function tokenAnswer(request: TokenRequest, token: string, { account, issuer, now }: TokenIdentity): object {
  const { name, namespace, creationTimestamp } = account.metadata;
  const { bound, audiences, expirationSeconds } = request;
  return {
    ...HEAD,
    metadata: { name, namespace, creationTimestamp },
    spec: {
      audiences: audiences.length === 0 ? [issuer] : audiences,
      expirationSeconds,
      boundObjectRef: bound === undefined ? null : { apiVersion: 'v1', ...bound },
    },
    status: { token, expirationTimestamp: formatTimestamp(now + expirationSeconds * 1000) },
  };
}
