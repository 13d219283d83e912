/** Reviews by the API server: the user of a token, and whether a user may do something here. */
import { createHmac, randomBytes } from 'node:crypto';
import { type ApiPath, apiPath } from '../../api/api-path.ts';
import type { Clock } from '../../base/clock.ts';
import { CodedError, codeOf } from '../../base/errors.ts';
import { withDeadline } from '../../base/signal.ts';
import type { User } from '../routes.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { createReviewQueue } from './review-queue.ts';

/** The only call of the API server's client that reviews need. */
export type ReviewRequest = <Answer>(
  request: {
    readonly method: 'POST';
    readonly path: ApiPath;
    readonly body: unknown;
    readonly timeoutMs: number;
    readonly urgent?: boolean;
  },
  signal: AbortSignal,
) => Promise<Answer>;

export interface ReviewDeps {
  readonly clock: Clock;
  readonly request: ReviewRequest;
  /** Called after each answer, for metrics. */
  readonly onReview?: (review: {
    readonly kind: 'token' | 'access';
    readonly code: string;
    readonly seconds: number;
  }) => void;
}

/**
 * Undefined: an unknown token. Rejects if the API server gives no answer: the request is then refused. Rejects with `exhausted` if too many
 * reviews are waiting. `from` is the address of the client: those with many waiting come after those with few.
 */
export type TokenReviews = (token: string, from: string, signal: AbortSignal) => Promise<User | undefined>;

export interface AccessQuestion {
  readonly user: User;
  readonly verb: string;
  readonly subresource: string;
}
/** Rejects if the API server gives no answer: the request is then refused. */
export type AccessReviews = (question: AccessQuestion, signal: AbortSignal) => Promise<boolean>;

const MOST_TOKENS = 4096;
/** Separate from those of users, which a flood of invented tokens would otherwise evict. */
const MOST_REFUSED_TOKENS = 1024;
/** Longer than any valid token; each is sent on to the API server. */
const LONGEST_TOKEN = 32 << 10;
const MOST_QUESTIONS = 8192;
/** One review may serve several requests, so it has its own deadline. */
const LOOKUP_MS = 30_000;
const ATTEMPT_MS = 10_000;
/** A short failure of the API server should not refuse a user; an outage should not make them wait. */
const RETRY_MS = [500, 750, 1125, 1690] as const;

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly error?: string;
    readonly user?: {
      readonly username?: string;
      readonly uid?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string };
}

export function createTokenReviews(config: { readonly cacheTtlMs: number }, deps: ReviewDeps): TokenReviews {
  const users = createKeptAnswers<User>(deps.clock.mono, MOST_TOKENS);
  const refused = createKeptAnswers<'unauthenticated'>(deps.clock.mono, MOST_REFUSED_TOKENS);
  const queue = createReviewQueue();
  // Keys are hashes: tokens don't stay in memory, and callers can't choose the keys of the map.
  const secret = randomBytes(32);
  const ask = shareLookups(async ({ token, from }: TokenQuestion, key, signal): Promise<User | 'unauthenticated'> => {
    using _turn = await queue.take(from, signal);
    const path = apiPath`/apis/authentication.k8s.io/v1/tokenreviews`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const { status = {} } = await review<TokenReview>(deps, 'token', { path, body }, signal);
    if (status.authenticated !== true && (status.error ?? '') !== '')
      throw new CodedError('unauthenticated', `the token was refused: ${status.error}`);
    const user = status.authenticated === true ? reviewedUser(status.user) : 'unauthenticated';
    if (user === 'unauthenticated') refused.set(key, user, config.cacheTtlMs);
    else users.set(key, user, config.cacheTtlMs);
    return user;
  }, deps);
  return async (token, from, signal) => {
    if (token.length > LONGEST_TOKEN) return undefined;
    const key = createHmac('sha256', secret).update(token).digest('base64');
    const user = users.get(key) ?? refused.get(key) ?? (await ask({ token, from }, key, signal));
    return user === 'unauthenticated' ? undefined : user;
  };
}

interface TokenQuestion {
  readonly token: string;
  readonly from: string;
}

function reviewedUser(user: NonNullable<TokenReview['status']>['user']): User {
  const { username: name = '', uid, groups = [], extra } = user ?? {};
  if (name === '') throw new CodedError('invalid', 'the API server answered a token review without a user name');
  return { name, groups, ...(uid !== undefined && { uid }), ...(extra && { extra }) };
}

export interface AccessConfig {
  readonly nodeName: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

export function createAccessReviews(config: AccessConfig, deps: ReviewDeps): AccessReviews {
  const kept = createKeptAnswers<boolean>(deps.clock.mono, MOST_QUESTIONS);
  const ask = shareLookups(async (spec: object, key: string, signal: AbortSignal): Promise<boolean> => {
    const path = apiPath`/apis/authorization.k8s.io/v1/subjectaccessreviews`;
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { status = {} } = await review<SubjectAccessReview>(deps, 'access', { path, body }, signal);
    const allowed = status.allowed === true && status.denied !== true;
    if (key.length <= LONGEST_KEY) kept.set(key, allowed, allowed ? config.authorizedTtlMs : config.unauthorizedTtlMs);
    return allowed;
  }, deps);
  return async ({ user, verb, subresource }, signal) => {
    const resource = { resource: 'nodes', subresource, verb, name: config.nodeName, version: 'v1' };
    const spec = {
      resourceAttributes: resource,
      user: user.name,
      groups: user.groups,
      ...(user.uid !== undefined && { uid: user.uid }),
      ...(user.extra && { extra: user.extra }),
    };
    const key = JSON.stringify(spec);
    return kept.get(key) ?? (await ask(spec, key, signal));
  };
}

/** Answers about users with more groups are not cached, so that they do not fill the memory. */
const LONGEST_KEY = 16 * 1024;

/** Equal questions at the same time share one review; it continues for the others when one caller gives up. */
function shareLookups<Question, Answer>(
  lookup: (question: Question, key: string, signal: AbortSignal) => Promise<Answer>,
  { clock }: ReviewDeps,
): (question: Question, key: string, signal: AbortSignal) => Promise<Answer> {
  const running = new Map<string, Promise<Answer>>();
  const start = async (question: Question, key: string) => {
    using deadline = withDeadline(clock, LOOKUP_MS, 'a review by the API server');
    try {
      return await lookup(question, key, deadline.signal);
    } finally {
      running.delete(key);
    }
  };
  return (question, key, signal) => {
    let answer = running.get(key);
    if (answer === undefined) {
      answer = start(question, key);
      running.set(key, answer);
    }
    return orAborted(answer, signal);
  };
}

function orAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function review<Answer>(
  deps: ReviewDeps,
  kind: 'token' | 'access',
  { path, body }: { readonly path: ApiPath; readonly body: unknown },
  signal: AbortSignal,
): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const began = deps.clock.mono();
    const report = (code: string) => deps.onReview?.({ kind, code, seconds: (deps.clock.mono() - began) / 1000 });
    try {
      // The user of an access review is authenticated: unauthenticated callers must not delay it.
      const urgent = kind === 'access';
      const answer = await deps.request<Answer>({ method: 'POST', path, body, timeoutMs: ATTEMPT_MS, urgent }, signal);
      report('201');
      return answer;
    } catch (error) {
      report(String((error as CodedError).data?.['httpStatus'] ?? '<error>'));
      const wait = RETRY_MS[attempt];
      if (wait === undefined || codeOf(error) !== 'unavailable' || !hasAnswer(error)) throw error;
      await deps.clock.sleep(wait, signal);
    }
  }
}

/** Without any answer, a retry would only make the client wait. */
function hasAnswer(error: unknown): boolean {
  return error instanceof CodedError && error.data['httpStatus'] !== undefined;
}
