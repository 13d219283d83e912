import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { Image } from '../wire/gen/cri-runtime-v1.ts';
import type { PullRequest } from './ports.ts';
import { createPulls, type PullJob, type PullSettings } from './pulls.ts';

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A runtime whose pulls end when the test says so. */
function createBench(settings: Partial<PullSettings> = {}) {
  const clock = createManualClock();
  const requests: { request: PullRequest; end: (how: string | Error) => void }[] = [];
  const pulls = createPulls(
    {
      clock,
      runtime: {
        pull: (request, signal) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            requests.push({ request, end: (how) => (typeof how === 'string' ? resolve(how) : reject(how)) });
          }),
        status: ({ image = '' }) =>
          Promise.resolve({ image: image === 'gone' ? undefined : { ...Image.zero(), id: image, size: 42 } }),
      },
    },
    { atOnce: 1, qps: 0, burst: 1, ...settings },
  );
  const names = () => requests.map(({ request }) => request.image.image);
  return { clock, requests, pulls, names };
}

const job = (name: string, more: Partial<PullJob> = {}): PullJob => ({
  key: name,
  image: { image: name },
  sandboxConfig: undefined,
  logins: [],
  rank: 0,
  ...more,
});

test('one after the other, the important ones first', async () => {
  const { pulls, requests, names } = createBench();
  const all = [job('a'), job('b'), job('c', { rank: -5 })].map((one) => pulls.pull(one, never));
  await settle();
  assert.deepEqual(names(), ['a']);
  for (const expected of [
    ['a', 'c'],
    ['a', 'c', 'b'],
  ]) {
    requests.at(-1)?.end('id');
    await settle();
    assert.deepEqual(names(), expected);
  }
  requests.at(-1)?.end('id');
  await Promise.all(all);
  assert.equal(pulls.underWay(), 0);
});

test('logins are tried one after the other, and all failures are told', async () => {
  const { pulls, requests } = createBench();
  const logins = ['one', 'two'].map((username) => ({ username, password: 'p' }));
  const unknown = (message: string) =>
    new CodedError('internal', `rpc error: code = Unknown desc = ${message}`, {
      data: { grpcStatus: 2, grpcMessage: message },
    });
  const pulled = pulls.pull(job('a', { logins }), never);
  await settle();
  requests[0]?.end(unknown('no'));
  await settle();
  assert.deepEqual(requests[1]?.request.auth, logins[1]);
  requests[1]?.end('id');
  const outcome = await pulled;
  assert.ok(outcome.kind === 'pulled');
  assert.equal(outcome.login, 1);
  assert.equal(outcome.image.size, 42);

  const failing = pulls.pull(job('b', { logins }), never);
  await settle();
  requests[2]?.end(unknown('no space left'));
  await settle();
  requests[3]?.end(
    new CodedError('exhausted', 'rpc error: code = ResourceExhausted desc = full', { data: { grpcStatus: 8 } }),
  );
  assert.deepEqual(await failing, {
    kind: 'failed',
    message: '[no space left, rpc error: code = ResourceExhausted desc = full]',
    diskFull: true,
  });
});

test('a runtime that is away is no failure of the image', async () => {
  const { pulls, requests } = createBench();
  const cut = pulls.pull(job('a'), never);
  await settle();
  requests[0]?.end(new CodedError('unavailable', 'the connection was lost'));
  await assert.rejects(cut, /connection was lost/);
  const refused = pulls.pull(job('a'), never);
  await settle();
  requests[1]?.end(
    new CodedError('unavailable', 'rpc error: code = Unavailable desc = 503', { data: { grpcStatus: 14 } }),
  );
  assert.equal((await refused).kind, 'failed', 'the runtime was there and said so');
});

test('an image that is gone again right after the pull', async () => {
  const { pulls, requests } = createBench();
  const pulled = pulls.pull(job('a'), never);
  await settle();
  requests[0]?.end('gone');
  assert.deepEqual(await pulled, {
    kind: 'failed',
    message: 'the runtime pulled gone and does not have it',
    diskFull: false,
  });
});

test('beyond the burst a pull waits; one that leaves gives its place to the next', async () => {
  const { pulls, requests, names, clock } = createBench({ atOnce: undefined, qps: 1, burst: 1 });
  const leaving = new AbortController();
  const first = pulls.pull(job('a'), never);
  const second = pulls.pull(job('b'), leaving.signal);
  await settle();
  assert.deepEqual(names(), ['a']);
  leaving.abort(new Error('left'));
  await assert.rejects(second, /left/);
  const third = pulls.pull(job('c'), never);
  await settle();
  await clock.advance(1000);
  await settle();
  assert.deepEqual(names(), ['a', 'c']);
  for (const { end } of requests) end('id');
  await Promise.all([first, third]);
});
