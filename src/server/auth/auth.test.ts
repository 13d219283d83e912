import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CodedError } from '../../base/errors.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { bearerToken, createAuthenticate, protocolToken } from './authenticate.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { ensureNodeToken, reviewNodeToken } from './node-token.ts';
import { createAccessReviews, createTokenReviews, type ReviewRequest } from './reviews.ts';

const signal = new AbortController().signal;
const FROM = '192.0.2.1';
const failing =
  (error: Error): ReviewRequest =>
  () =>
    Promise.reject(error);
const answering =
  (status: object): ReviewRequest =>
  <Answer>() =>
    Promise.resolve({ status } as Answer);

describe('tokens in headers', () => {
  for (const [header, wanted] of [
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    [' Bearer abc ', 'abc'],
    ['Bearer abc def', 'abc'],
    ['Bearer  abc', undefined],
    ['Bearer', undefined],
    ['Basic abc', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const) {
    it(`Authorization: ${header}`, () => assert.equal(bearerToken(header), wanted));
  }

  for (const [header, wanted] of [
    ['base64url.bearer.authorization.k8s.io.YWJj, v4.channel.k8s.io', 'abc'],
    ['v4.channel.k8s.io,base64url.bearer.authorization.k8s.io.YWJj', 'abc'],
    ['base64url.bearer.authorization.k8s.io.', undefined],
    ['base64url.bearer.authorization.k8s.io.Y W', undefined],
    ['v4.channel.k8s.io', undefined],
    [undefined, undefined],
  ] as const) {
    it(`Sec-WebSocket-Protocol: ${header}`, () => assert.equal(protocolToken(header), wanted));
  }
});

describe('reviews', () => {
  const reviews = (request: ReviewRequest) => {
    const clock = createManualClock();
    return { clock, review: createTokenReviews({ cacheTtlMs: 1000 }, { clock, request }) };
  };

  it('give the user that the API server answers', async () => {
    const user = { username: 'ada', uid: '7', groups: ['dev'], extra: { k: ['v'] } };
    const { review } = reviews(answering({ authenticated: true, user }));
    assert.deepEqual(await review('t', FROM, signal), { name: 'ada', uid: '7', groups: ['dev'], extra: { k: ['v'] } });
  });

  it('fail if the answer has no name, or an error', async () => {
    await assert.rejects(
      reviews(answering({ authenticated: true, user: {} })).review('t', FROM, signal),
      /without a user name/,
    );
    await assert.rejects(
      reviews(answering({ authenticated: false, error: 'expired' })).review('t', FROM, signal),
      /refused: expired/,
    );
    assert.equal(await reviews(answering({})).review('t', FROM, signal), undefined);
  });

  it('are retried only if the API server answers that it is busy', async () => {
    let calls = 0;
    const busy: ReviewRequest = <Answer>() => {
      calls += 1;
      if (calls < 3) return Promise.reject(new CodedError('unavailable', 'busy', { data: { httpStatus: 500 } }));
      return Promise.resolve({ status: { authenticated: true, user: { username: 'ada' } } } as Answer);
    };
    const { clock, review } = reviews(busy);
    const asked = review('t', FROM, signal);
    for (let step = 0; calls < 3 && step < 20; step += 1) await clock.advance(500);
    assert.equal((await asked)?.name, 'ada');
    await assert.rejects(
      reviews(failing(new CodedError('unavailable', 'connect ECONNREFUSED'))).review('t', FROM, signal),
      /ECONNREFUSED/,
    );
    await assert.rejects(
      reviews(failing(new CodedError('denied', 'no', { data: { httpStatus: 403 } }))).review('t', FROM, signal),
      /no/,
    );
  });

  it('are not cached if they failed', async () => {
    let calls = 0;
    const request: ReviewRequest = <Answer>() => {
      calls += 1;
      if (calls === 1) return Promise.reject(new CodedError('unavailable', 'away'));
      return Promise.resolve({ status: { authenticated: true, user: { username: 'ada' } } } as Answer);
    };
    const { review } = reviews(request);
    await assert.rejects(review('t', FROM, signal), /away/);
    assert.equal((await review('t', FROM, signal))?.name, 'ada');
  });

  it('continue for the other callers when one gives up', async () => {
    const answer = Promise.withResolvers<unknown>();
    const { review } = reviews(<Answer>() => answer.promise as Promise<Answer>);
    const leaving = new AbortController();
    const [one, two] = [review('t', FROM, leaving.signal), review('t', FROM, signal)];
    leaving.abort(new Error('left'));
    await assert.rejects(one, /left/);
    answer.resolve({ status: { authenticated: true, user: { username: 'ada' } } });
    assert.equal((await two)?.name, 'ada');
  });

  it('of invented tokens are limited, more so for each address, and do not evict those of known users', async () => {
    const waiting: ((answer: unknown) => void)[] = [];
    const underWay: string[] = [];
    const request: ReviewRequest = <Answer>({ body }: { body: unknown }) => {
      const { token } = (body as { spec: { token: string } }).spec;
      underWay.push(token);
      const status = token === 'good' ? { authenticated: true, user: { username: 'ada' } } : { authenticated: false };
      return new Promise<Answer>((resolve) => waiting.push(() => resolve({ status } as Answer)));
    };
    const answerAll = async () => {
      for (let settled = 0; settled < 3; settled += waiting.length === 0 ? 1 : 0) {
        for (const answer of waiting.splice(0)) answer(undefined);
        await new Promise((turn) => setImmediate(turn));
      }
    };
    const { review } = reviews(request);
    const outcomes: Record<string, number> = {};
    const ask = async (token: string, from: string) => {
      const outcome = await review(token, from, signal).then(
        (user) => user?.name ?? 'nobody',
        (error: CodedError) => error.code,
      );
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };
    const flood = Array.from({ length: 1000 }, (_, at) => ask(`made-up ${at}`, '192.0.2.66'));
    const good = ask('good', '192.0.2.1');
    await new Promise((turn) => setImmediate(turn));
    assert.deepEqual([underWay.length, outcomes], [16, { exhausted: 968 }]);
    waiting.shift()?.(undefined);
    await new Promise((turn) => setImmediate(turn));
    assert.equal(underWay.at(-1), 'good', 'who sends one goes before who sends many');
    await answerAll();
    await Promise.all([...flood, good]);
    assert.deepEqual(outcomes, { exhausted: 968, nobody: 32, ada: 1 });
    for (let at = 0; at < 6000; at += 20) {
      const some = Array.from({ length: 20 }, (_, next) => ask(`more ${at + next}`, '192.0.2.66'));
      await answerAll();
      await Promise.all(some);
    }
    const asked = underWay.length;
    assert.equal((await review('good', FROM, signal))?.name, 'ada');
    assert.equal(underWay.length, asked, 'and is remembered');
    assert.equal(await review('x'.repeat(1 << 16), FROM, signal), undefined);
    assert.equal(underWay.length, asked, 'no issuer makes such a token');
  });

  it('put a denial before a permission', async () => {
    const clock = createManualClock();
    const config = { nodeName: 'n', authorizedTtlMs: 0, unauthorizedTtlMs: 0 };
    const question = { user: { name: 'ada', groups: [] }, verb: 'get', subresource: 'proxy' };
    const ask = (status: object) =>
      createAccessReviews(config, { clock, request: answering(status) })(question, signal);
    assert.deepEqual(
      await Promise.all([
        ask({ allowed: true }),
        ask({ allowed: true, denied: true }),
        ask({}),
        ask({ allowed: 'yes' }),
      ]),
      [true, false, false, false],
    );
  });
});

describe('the cache of answers', () => {
  it('is limited in size and in time', () => {
    let now = 0;
    const kept = createKeptAnswers<number>(() => now, 3);
    for (let at = 0; at < 10; at += 1) kept.set(`k${at}`, at, 100);
    assert.deepEqual([kept.get('k6'), kept.get('k7'), kept.get('k9')], [undefined, 7, 9]);
    now = 100;
    assert.equal(kept.get('k9'), undefined);
    kept.set('never', 1, 0);
    assert.equal(kept.get('never'), undefined);
  });
});

describe('the token of a node without a cluster', () => {
  it('is created once, for root only, and gives access', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'token-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'root/server-token');
    const token = await ensureNodeToken(file);
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(await ensureNodeToken(file), token);
    writeFileSync(file, 'short\n');
    assert.notEqual(await ensureNodeToken(file), 'short');
    const review = reviewNodeToken(token);
    assert.deepEqual((await review(token, FROM, signal))?.groups, ['system:masters']);
    for (const wrong of ['', token.slice(1), `${token}0`, 'x'])
      assert.equal(await review(wrong, FROM, signal), undefined);
  });
});

describe('authentication', () => {
  it('makes no token reviews if they are disabled', async () => {
    const authenticate = createAuthenticate({ anonymous: true, knowsAllTokens: true });
    const found = await authenticate(
      { certificate: { kind: 'none' }, authorization: 'Bearer x', protocols: undefined, from: FROM },
      signal,
    );
    assert.equal(found.kind === 'user' && found.user.name, 'system:anonymous');
  });

  // The token's issuer, whether anonymous access is on, and who the bearer of a token that the issuer does not know is then.
  for (const [issuer, knowsAllTokens, anonymous, expected] of [
    ['the API server', true, true, 'refused'],
    ['the API server', true, false, 'refused'],
    ['a node without a cluster', false, true, 'system:anonymous'],
    ['a node without a cluster', false, false, 'refused'],
  ] as const) {
    it(`a token unknown to ${issuer}, anonymous access ${anonymous ? 'on' : 'off'}: ${expected}`, async () => {
      const authenticate = createAuthenticate({ anonymous, knowsAllTokens, reviewToken: async () => undefined });
      const shown = {
        certificate: { kind: 'none' },
        authorization: 'Bearer x',
        protocols: undefined,
        from: FROM,
      } as const;
      const found = await authenticate(shown, signal);
      assert.equal(found.kind === 'user' ? found.user.name : found.kind, expected);
      const certificate = { kind: 'refused', reason: 'expired' } as const;
      assert.equal((await authenticate({ ...shown, certificate }, signal)).kind, 'refused', 'a bad certificate');
    });
  }

  it('adds the group of authenticated users once', async () => {
    const authenticate = createAuthenticate({ anonymous: false, knowsAllTokens: true });
    const groups = async (organizations: readonly string[]) => {
      const certificate = { kind: 'verified', commonName: 'ada', organizations } as const;
      const found = await authenticate(
        { certificate, authorization: undefined, protocols: undefined, from: FROM },
        signal,
      );
      return found.kind === 'user' ? found.user.groups : [];
    };
    assert.deepEqual(await groups(['dev']), ['dev', 'system:authenticated']);
    assert.deepEqual(await groups(['system:authenticated']), ['system:authenticated']);
  });
});
