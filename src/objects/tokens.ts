/** Tokens of service accounts, each bound to a pod and valid only as long as the pod exists. An expired one is never returned. */
import { apiPath } from '../api/api-path.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { KubeClient } from '../kube/kube.ts';
import type { BoundToken, TokenOptions } from './objects.ts';
import { tokenRefreshAt } from './rules/token-refresh.ts';
import { serverMessage } from './server-message.ts';
import { createShared, type Shared } from './shared.ts';
import { whileDenied } from './while-denied.ts';

export interface TokensDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: KubeClient;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface Tokens {
  get(options: TokenOptions, signal: AbortSignal): Promise<BoundToken>;
  /** Forgets those of all other pods. */
  keepOnly(podUids: ReadonlySet<string>): void;
}

interface Kept {
  readonly token: BoundToken;
  readonly podUid: string;
}

/** The pause before a failed refresh is retried, as long as the old token is valid. */
const RETRY_MS = 30_000;

export function createTokens({ clock, log, client, random }: TokensDeps): Tokens {
  const cache = new Map<string, Kept>();
  const requests: Shared<BoundToken> = createShared();

  const request = async (key: string, options: TokenOptions, signal: AbortSignal): Promise<BoundToken> => {
    const body = requestOf(options);
    const answer = await whileDenied(clock, signal, () => client.request<TokenAnswer>(body, signal));
    const token = readAnswer(answer, options, random());
    cache.set(key, { token, podUid: options.pod.uid });
    return token;
  };

  const insteadOf = (kept: Kept | undefined, key: string, error: unknown): BoundToken => {
    const text = serverMessage(error);
    if (kept === undefined) throw new CodedError(codeOf(error), `failed to fetch token: ${text}`);
    if (clock.now() >= kept.token.expiresAt) {
      cache.delete(key);
      throw new CodedError(codeOf(error), `token ${key} expired and refresh failed: ${text}`);
    }
    log.error("Couldn't update token", { cacheKey: key, err: text });
    return { ...kept.token, refreshAt: Math.min(clock.now() + RETRY_MS, kept.token.expiresAt) };
  };

  return {
    get: async (options, signal) => {
      const key = keyOf(options);
      const kept = cache.get(key);
      if (kept !== undefined && clock.now() < kept.token.refreshAt) return kept.token;
      try {
        return await requests.run(key, signal, (own) => request(key, options, own));
      } catch (error) {
        signal.throwIfAborted();
        return insteadOf(kept, key, error);
      }
    },
    keepOnly: (podUids) => {
      for (const [key, { podUid }] of cache) if (!podUids.has(podUid)) cache.delete(key);
    },
  };
}

/** May be logged: it contains no secret. */
function keyOf({
  pod,
  serviceAccountName,
  audiences,
  expirationSeconds,
  serviceAccountUid = '',
}: TokenOptions): string {
  return JSON.stringify([
    serviceAccountName,
    pod.namespace,
    audiences,
    expirationSeconds,
    pod.name,
    pod.uid,
    serviceAccountUid,
  ]);
}

interface TokenAnswer {
  readonly spec?: { readonly expirationSeconds?: number };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

function requestOf({ pod, serviceAccountName, audiences, expirationSeconds, serviceAccountUid }: TokenOptions) {
  return {
    method: 'POST',
    path: apiPath`/api/v1/namespaces/${pod.namespace}/serviceaccounts/${serviceAccountName}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: serviceAccountUid === undefined ? {} : { uid: serviceAccountUid },
      spec: {
        audiences,
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid },
      },
    },
  } as const;
}

function readAnswer({ spec, status }: TokenAnswer, options: TokenOptions, random: number): BoundToken {
  const expiresAt = parseTimestamp(status?.expirationTimestamp ?? '');
  const token = status?.token ?? '';
  if (expiresAt === undefined || token === '') {
    const whose = `${options.pod.namespace}/${options.serviceAccountName}`;
    throw new CodedError('internal', `the answer for a token of ${whose} has no token or no time of expiry`);
  }
  const lifeSeconds = spec?.expirationSeconds ?? options.expirationSeconds;
  return { token, expiresAt, refreshAt: tokenRefreshAt({ expiresAt, lifeSeconds, random }) };
}
