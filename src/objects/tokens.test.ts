import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTimestamp } from '../api/timestamp.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import type { KubeRequest } from '../kube/kube.ts';
import { createFakeKube } from './kube-testing.ts';
import type { TokenOptions } from './objects.ts';
import { createTokens } from './tokens.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const pod = { uid: 'u1', name: 'web', namespace: 'ns' };
const options: TokenOptions = { pod, serviceAccountName: 'robot', audiences: [], expirationSeconds: 600 };

interface Body {
  readonly spec: { readonly expirationSeconds: number };
}

function setUp(answer?: (request: KubeRequest, clock: ManualClock) => unknown) {
  const clock = createManualClock(1_700_000_000_000);
  let serial = 0;
  const issue = ({ body }: KubeRequest) => {
    const { spec } = body as Body;
    const expirationTimestamp = formatTimestamp(clock.now() + spec.expirationSeconds * 1000);
    return { spec, status: { token: `token-${++serial}`, expirationTimestamp } };
  };
  const kube = createFakeKube((request) => answer?.(request, clock) ?? issue(request));
  const tokens = createTokens({ clock, log: createSilentLogger(), client: kube.general, random: () => 0 });
  return { clock, kube, tokens, get: (one: TokenOptions = options) => tokens.get(one, never) };
}

test('tokens: bound to the pod, requested as the API expects it', async () => {
  const { kube, get, clock } = setUp();
  const { token, expiresAt, refreshAt } = await get({ ...options, audiences: ['vault'], serviceAccountUid: 'sa-uid' });
  assert.equal(token, 'token-1');
  assert.deepEqual([expiresAt - clock.now(), refreshAt - clock.now()], [600_000, 480_000]);
  assert.deepEqual(kube.requests, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/ns/serviceaccounts/robot/token',
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { uid: 'sa-uid' },
        spec: {
          audiences: ['vault'],
          expirationSeconds: 600,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
        },
      },
    },
  ]);
});

test('tokens: kept until it is time, then a new one', async () => {
  const { clock, kube, get } = setUp();
  await get();
  await clock.advance(479_999);
  assert.equal((await get()).token, 'token-1');
  await clock.advance(1);
  assert.equal((await get()).token, 'token-2');
  assert.equal(kube.requests.length, 2);
});

test('tokens: many who ask at once share one request', async () => {
  const { kube, get } = setUp();
  const all = await Promise.all(Array.from({ length: 20 }, () => get()));
  assert.equal(new Set(all.map(({ token }) => token)).size, 1);
  assert.equal(kube.requests.length, 1);
});

for (const [name, other] of Object.entries({
  pod: { pod: { ...pod, uid: 'u2' } },
  account: { serviceAccountName: 'other' },
  audience: { audiences: ['vault'] },
  life: { expirationSeconds: 700 },
  'UID of the account': { serviceAccountUid: 'x' },
} satisfies Record<string, Partial<TokenOptions>>)) {
  test(`tokens: another ${name} is another token`, async () => {
    const { get } = setUp();
    const first = await get();
    assert.notEqual((await get({ ...options, ...other })).token, first.token);
    assert.equal((await get()).token, first.token);
  });
}

test('tokens: while a refresh fails, the old one is good until it expires, and never longer', async () => {
  let away = false;
  const { clock, get } = setUp(() => (away ? new CodedError('unavailable', 'refused') : undefined));
  const first = await get();
  away = true;
  await clock.advance(500_000);
  const old = await get();
  assert.equal(old.token, first.token);
  assert.equal(old.refreshAt, clock.now() + 30_000, 'requested again soon');
  await clock.advance(90_000);
  assert.equal((await get()).refreshAt, first.expiresAt, 'not later than it expires');
  await clock.advance(10_000);
  await assert.rejects(
    get(),
    (error) => codeOf(error) === 'unavailable' && /expired and refresh failed: refused/.test(String(error)),
  );
  away = false;
  assert.equal((await get()).token, 'token-2');
});

test('tokens: a first request that fails is an error with its reason', async () => {
  const { get } = setUp(() => new CodedError('notFound', 'serviceaccounts "robot" not found'));
  await assert.rejects(get(), (error) => {
    assert.equal(codeOf(error), 'notFound');
    assert.match(String(error), /failed to fetch token: serviceaccounts "robot" not found/);
    return true;
  });
});

test('tokens: a refusal just after the pod came is retried', async () => {
  let refusals = 3;
  const { clock, kube, get } = setUp(() =>
    refusals-- > 0 ? new CodedError('denied', 'no relationship found') : undefined,
  );
  const answer = get();
  for (const pause of [5, 10, 20]) {
    await settled();
    await clock.advance(pause);
  }
  assert.equal((await answer).token, 'token-1');
  assert.equal(kube.requests.length, 4);
});

test('tokens: a refusal that stays is an error', async () => {
  const { clock, kube, get } = setUp(() => new CodedError('denied', 'no relationship found'));
  const answer = get().catch((error: unknown) => error);
  for (let n = 0; n < 10; n++) {
    await settled();
    await clock.advance(1300);
  }
  assert.equal(codeOf(await answer), 'denied');
  assert.equal(kube.requests.length, 10);
});

for (const [name, answer] of Object.entries({
  'no status': {},
  'no token': { status: { expirationTimestamp: '2026-01-01T00:00:00Z' } },
  'no time': { status: { token: 'x' } },
  'a bad time': { status: { token: 'x', expirationTimestamp: 'soon' } },
})) {
  test(`tokens: an answer with ${name} is not believed`, () => {
    const { get } = setUp(() => answer);
    return assert.rejects(get(), /has no token or no time of expiry/);
  });
}

test('tokens: those of pods that are gone are forgotten', async () => {
  const { kube, tokens, get } = setUp();
  await get();
  await get({ ...options, pod: { ...pod, uid: 'u2' } });
  tokens.keepOnly(new Set(['u2']));
  await get({ ...options, pod: { ...pod, uid: 'u2' } });
  assert.equal(kube.requests.length, 2);
  await get();
  assert.equal(kube.requests.length, 3);
});

test('tokens: who leaves does not end it for others; when all have left, it ends', async () => {
  const seen: AbortSignal[] = [];
  const clock = createManualClock();
  const client = {
    request: <A>(_: KubeRequest, signal: AbortSignal) => {
      seen.push(signal);
      return new Promise<A>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const tokens = createTokens({ clock, log: createSilentLogger(), client, random: () => 0 });
  const [one, two] = [new AbortController(), new AbortController()];
  const waits = [one, two].map(({ signal }) => tokens.get(options, signal).catch((error: unknown) => error));
  await settled();
  one.abort('first');
  await settled();
  assert.equal(seen[0]?.aborted, false);
  two.abort('second');
  assert.deepEqual(await Promise.all(waits), ['first', 'second']);
  assert.equal(seen[0]?.aborted, true);
  assert.equal(seen.length, 1);
});

test('tokens: none is requested with a name that leads elsewhere', async () => {
  const { kube, get } = setUp();
  await assert.rejects(
    get({ ...options, serviceAccountName: '../../kube-system/serviceaccounts/admin' }),
    /failed to fetch token: invalid resource name/,
  );
  assert.deepEqual(kube.requests, []);
});
