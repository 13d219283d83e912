/** Requests against a server that misbehaves in every way that a server can. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiPath } from '../api/api-path.ts';
import { CodedError, codeOf, describeError } from '../base/errors.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { RequestRecord } from './client.ts';
import { type Dial, dialTcp } from './dial.ts';
import {
  createTestPki,
  type FakeServer,
  type KeyPair,
  sendJson,
  sendStatus,
  startFakeServer,
  startRelay,
  startTestKube,
  type TestKubeOptions,
  type TestPki,
  until,
} from './testing.ts';

const GET = { method: 'GET', path: apiPath`/api/v1/nodes/a` } as const;

describe('a request to the API server', () => {
  let pki: TestPki;
  let pair: KeyPair;
  let server: FakeServer;
  before(async () => {
    pki = await createTestPki();
    pair = await pki.issue('server', 'kube', ['127.0.0.1', 'kube']);
    server = await startFakeServer({ pair });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await pki[Symbol.asyncDispose]();
  });
  const to = (port: number, more: object = {}) => ({
    server: `https://127.0.0.1:${port}`,
    'certificate-authority': pki.ca.cert,
    ...more,
  });
  const start = (options: Partial<TestKubeOptions> = {}) =>
    startTestKube({ directory: pki.directory, cluster: to(server.port), ...options });

  test('for a pod does not wait behind reviews', async () => {
    await using own = await startFakeServer({ pair });
    own.handle((seen, response) => sendJson(response, 200, { path: seen.path }));
    const limit = { perSecond: 1, burst: 2 };
    await using t = await start({ cluster: to(own.port), config: { limit } });
    const flood = new AbortController();
    const review = { method: 'POST', path: apiPath`/tokenreviews`, body: {} } as const;
    const tokens = Array.from({ length: 60 }, () => t.kube.reviews.request(review, flood.signal));
    const settled = Promise.allSettled(tokens);
    await Promise.all(tokens.slice(0, 2));
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { path: GET.path });
    flood.abort(new Error('enough'));
    assert.ok(
      (await settled).some(({ status }) => status === 'rejected'),
      'reviews were still waiting',
    );
  });

  test('is sent as JSON over HTTP/2 and answered with an object', async () => {
    await using own = await startFakeServer({ pair });
    own.handle((seen, response) => sendJson(response, 200, { echo: JSON.parse(seen.body) }));
    await using t = await start({ cluster: to(own.port), user: { token: 'tok', as: 'me', 'as-groups': ['a', 'b'] } });
    const body = { status: { phase: 'Läuft' } };
    const answer = await t.kube.general.request(
      {
        method: 'PATCH',
        path: apiPath`/api/v1/nodes/a/status`,
        query: { fieldManager: 'a b&c' },
        body,
        patch: 'merge',
      },
      t.signal,
    );
    assert.deepEqual(answer, { echo: body });
    const [seen] = own.seen;
    assert.equal(seen?.version, '2.0');
    assert.equal(seen?.query.get('fieldManager'), 'a b&c');
    assert.equal(seen?.headers['content-type'], 'application/merge-patch+json');
    assert.equal(seen?.headers.accept, 'application/json');
    assert.equal(seen?.headers['user-agent'], 'kubelet/test');
    assert.equal(seen?.headers.authorization, 'Bearer tok');
    assert.equal(seen?.headers['impersonate-user'], 'me');
    assert.equal(seen?.headers['impersonate-group'], 'a, b');
    assert.equal(seen?.headers[':authority'], `127.0.0.1:${own.port}`);
  });

  for (const [patch, type] of [
    [undefined, 'strategic-merge-patch'],
    ['json', 'json-patch'],
  ] as const) {
    test(`sends a patch as ${type}`, async () => {
      server.handle((seen, response) => sendJson(response, 200, { type: seen.headers['content-type'] }));
      await using t = await start();
      const request = {
        method: 'PATCH',
        path: apiPath`/x`,
        body: [],
        ...(patch === undefined ? {} : { patch }),
      } as const;
      assert.deepEqual(await t.kube.general.request(request, t.signal), { type: `application/${type}+json` });
    });
  }

  test('may have an empty answer, or one in plain text', async () => {
    server.handle((seen, response) => {
      response.writeHead(seen.path === '/empty' ? 204 : 200, { 'content-type': 'text/plain' });
      response.end(seen.path === '/empty' ? '' : 'ok');
    });
    await using t = await start();
    assert.equal(await t.kube.general.request({ method: 'GET', path: apiPath`/readyz` }, t.signal), 'ok');
    assert.equal(await t.kube.general.request({ method: 'DELETE', path: apiPath`/empty` }, t.signal), '');
  });

  test('gets a complete answer however long it is', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ name: `pod-${index}-äöü`, text: 'x'.repeat(200) }));
    server.handle((_seen, response) => sendJson(response, 200, { items }));
    await using t = await start();
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { items });
  });

  test('has the path of the server as its prefix', async () => {
    server.handle((seen, response) => sendJson(response, 200, { path: seen.path }));
    await using t = await start({ cluster: to(server.port, { server: `https://127.0.0.1:${server.port}/k8s/c-1/` }) });
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { path: apiPath`/k8s/c-1/api/v1/nodes/a` });
  });

  test('fails with an error code for each kind of answer', async () => {
    server.handle((_seen, response) => sendStatus(response, 409, 'AlreadyExists'));
    await using t = await start();
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => {
      assert.ok(error instanceof CodedError);
      assert.equal(error.code, 'exists');
      assert.equal(error.message, 'GET /api/v1/nodes/a: 409: AlreadyExists it is');
      assert.equal(error.data['httpStatus'], 409);
      return true;
    });
  });

  test('is retried when the server says when', async () => {
    const clock = createManualClock();
    let answers = 0;
    server.handle((seen, response) => {
      answers += 1;
      if (answers === 1) sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '2' });
      else if (answers === 2) sendStatus(response, 503, 'ServiceUnavailable', { 'retry-after': '5' });
      else sendJson(response, 200, { got: seen.body });
    });
    const records: RequestRecord[] = [];
    await using t = await start({ clock, deps: { onRequest: (record) => records.push(record) } });
    await until(() => clock.sleepers() === 1, 'the look at the files');
    const answer = t.kube.general.request({ method: 'POST', path: apiPath`/x`, body: 'again' }, t.signal);
    await until(() => answers === 1 && clock.sleepers() === 4, 'the first wait');
    await clock.advance(1_999);
    assert.equal(answers, 1);
    await clock.advance(1);
    await until(() => answers === 2 && clock.sleepers() === 4, 'the second wait');
    await clock.advance(5_000);
    assert.deepEqual(await answer, { got: '"again"' });
    assert.deepEqual(
      records.map(({ verb, code, host }) => [verb, code, host]),
      ['429', '503', '200'].map((code) => ['POST', code, `127.0.0.1:${server.port}`]),
    );
  });

  const untried: readonly [string, number, object][] = [
    ['that it is too busy, and not when', 429, {}],
    ['that something is broken, though it says when', 500, { 'retry-after': '1' }],
    ['that it wants an hour', 503, { 'retry-after': '3600' }],
  ];
  for (const [what, status, headers] of untried) {
    test(`is not retried when the server answers ${what}`, async () => {
      let answers = 0;
      server.handle((_seen, response) => {
        answers += 1;
        sendStatus(response, status, 'x', headers);
      });
      await using t = await start();
      await assert.rejects(t.kube.general.request(GET, t.signal), (error) => codeOf(error) === 'unavailable');
      assert.equal(answers, 1);
    });
  }

  test('is not retried after its own deadline, nor for ever', async () => {
    let answers = 0;
    server.handle((_seen, response) => {
      answers += 1;
      sendStatus(response, 429, 'TooManyRequests', { 'retry-after': answers > 1 ? '0' : '2' });
    });
    await using t = await start();
    const short = t.kube.general.request({ ...GET, timeoutMs: 1_500 }, t.signal);
    await assert.rejects(short, (error) => codeOf(error) === 'unavailable' && describeError(error).includes('429'));
    assert.equal(answers, 1);
    await assert.rejects(t.kube.general.request(GET, t.signal), /429/);
    assert.equal(answers, 6);
  });

  test('ends at its deadline', async () => {
    server.handle(() => undefined);
    await using t = await start();
    await assert.rejects(t.kube.general.request({ ...GET, timeoutMs: 30 }, t.signal), (error) => {
      assert.equal(codeOf(error), 'deadline');
      assert.match(describeError(error), /GET \/api\/v1\/nodes\/a: no answer within 30 ms/);
      return true;
    });
  });

  test('ends at its deadline in the middle of an answer', async () => {
    server.handle((_seen, response) => void response.writeHead(200).write('{"half":'));
    await using t = await start();
    const slow = t.kube.general.request({ ...GET, timeoutMs: 50 }, t.signal);
    await assert.rejects(slow, (error) => codeOf(error) === 'deadline');
  });

  test('ends with the reason of its signal', async () => {
    const arrived = Promise.withResolvers<void>();
    server.handle(() => arrived.resolve());
    await using t = await start();
    const own = new AbortController();
    const request = t.kube.general.request(GET, own.signal);
    await arrived.promise;
    own.abort('not needed');
    await assert.rejects(request, (error) => error === 'not needed');
    await assert.rejects(t.kube.general.request(GET, own.signal), (error) => error === 'not needed');
  });

  const broken: readonly [string, (response: Parameters<Parameters<FakeServer['handle']>[0]>[1]) => void, RegExp][] = [
    [
      'garbage',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a'),
      /not JSON/,
    ],
    ['half an answer', (response) => cutAfterHalf(response), /cut off/],
    ['no answer', (response) => void response.stream.session?.socket.destroy(), /connection .* was lost/],
    ['a reset', (response) => response.stream.close(2), /connection .* was lost/],
    [
      'a page',
      (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>no'),
      /502: <h1>no/,
    ],
  ];
  for (const [what, misbehave, words] of broken) {
    test(`that gets ${what} fails with a clear error, and the next one succeeds`, async () => {
      server.handle((_seen, response) => misbehave(response));
      await using t = await start();
      await assert.rejects(t.kube.general.request(GET, t.signal), (error) => {
        assert.equal(codeOf(error), 'unavailable');
        assert.match(describeError(error), words);
        return true;
      });
      server.handle((_seen, response) => sendJson(response, 200, { fine: true }));
      assert.deepEqual(await t.kube.general.request(GET, t.signal), { fine: true });
    });
  }

  test('that the server refused to process is sent again', async () => {
    let refusals = 0;
    server.handle((_seen, response) => {
      refusals += 1;
      if (refusals > 2) sendJson(response, 200, { refusals });
      else response.stream.close(7);
    });
    await using t = await start();
    assert.deepEqual(await t.kube.general.request({ method: 'POST', path: apiPath`/x`, body: 1 }, t.signal), {
      refusals: 3,
    });
  });

  test('under way when the server closes the connection is finished; the next one uses a new connection', async () => {
    await using own = await startFakeServer({ pair });
    own.handle((seen, response) => {
      if (seen.path !== '/last') return sendJson(response, 200, {});
      response.stream.session?.goaway(0);
      setTimeout(() => sendJson(response, 200, { last: true }), 20);
    });
    await using t = await start({ cluster: to(own.port) });
    const last = t.kube.general.request({ method: 'GET', path: apiPath`/last` }, t.signal);
    await until(() => own.seen.length === 1, 'the request');
    const next = await t.kube.general.request({ method: 'GET', path: apiPath`/next` }, t.signal);
    assert.deepEqual([await last, next], [{ last: true }, {}]);
    const sockets = new Set(own.seen.map((seen) => seen.socket));
    assert.equal(sockets.size, 2);
  });

  test('shares one connection with the others, but heartbeats have their own', async () => {
    await using own = await startFakeServer({ pair });
    await using t = await start({ cluster: to(own.port) });
    await Promise.all(Array.from({ length: 50 }, () => t.kube.general.request(GET, t.signal)));
    await t.kube.events.request(GET, t.signal);
    assert.equal(own.sessions.size, 1);
    await t.kube.heartbeats.request(GET, t.signal);
    assert.equal(own.sessions.size, 2);
  });

  test('uses an additional connection if the server allows no more calls on the first', async () => {
    await using own = await startFakeServer({ pair, settings: { maxConcurrentStreams: 10 } });
    const waiting: (() => void)[] = [];
    own.handle((_seen, response) => void waiting.push(() => sendJson(response, 200, {})));
    await using t = await start({ cluster: to(own.port) });
    const all = Array.from({ length: 25 }, () => t.kube.general.request(GET, t.signal));
    await until(() => waiting.length === 25, 'all of them at once');
    assert.equal(own.sessions.size, 3);
    for (const answer of waiting) answer();
    await Promise.all(all);
  });

  test('works again after connections were closed on purpose', async () => {
    await using own = await startFakeServer({ pair });
    await using t = await start({ cluster: to(own.port) });
    await t.kube.general.request(GET, t.signal);
    own.handle(() => undefined);
    const lost = t.kube.general.request(GET, t.signal);
    await until(() => own.seen.length === 2, 'the request');
    t.kube.reconnect('heartbeats fail');
    await assert.rejects(
      lost,
      (error) => codeOf(error) === 'unavailable' && /heartbeats fail/.test(describeError(error)),
    );
    own.handle((_seen, response) => sendJson(response, 200, { new: true }));
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { new: true });
  });

  test('detects a dead connection by pings, and opens a new one', async () => {
    await using own = await startFakeServer({ pair });
    await using relay = await startRelay(own.port);
    const clock = createManualClock();
    await using t = await start({ clock, cluster: to(relay.port) });
    await t.kube.general.request(GET, t.signal);
    relay.block(true);
    const stuck = t.kube.general.request({ ...GET, timeoutMs: 3_600_000 }, t.signal);
    const judged = assert.rejects(stuck, (error) => /does not answer/.test(describeError(error)));
    for (let look = 0; look < 12; look += 1) await clock.advance(10_000);
    await judged;
    relay.block(false);
    await t.kube.general.request(GET, t.signal);
  });

  test('without an answer in time causes a ping at once', async () => {
    await using relay = await startRelay(server.port);
    const clock = createManualClock();
    server.handle((_seen, response) => sendJson(response, 200, {}));
    await using t = await start({ clock, cluster: to(relay.port) });
    await t.kube.heartbeats.request(GET, t.signal);
    relay.block(true);
    const late = t.kube.heartbeats.request(GET, t.signal);
    const judged = assert.rejects(late, (error) => codeOf(error) === 'deadline');
    await until(() => clock.sleepers() >= 3, 'the request under way');
    await clock.advance(10_000);
    await judged;
    await clock.advance(5_000);
    relay.block(false);
    await until(() => relay.connections() === 0, 'the old connection is closed');
    await t.kube.heartbeats.request(GET, t.signal);
  });

  test('fails when no server listens, and works as soon as one does', async () => {
    const gone = await startFakeServer({ pair });
    await gone[Symbol.asyncDispose]();
    await using t = await start({ cluster: to(gone.port) });
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => {
      assert.equal(codeOf(error), 'unavailable');
      assert.match(
        describeError(error),
        new RegExp(`failed to connect to the API server https://127.0.0.1:${gone.port}: .*ECONNREFUSED`),
      );
      return true;
    });
  });

  test('is not delayed by an attempt to connect that hangs', async () => {
    server.handle((_seen, response) => sendJson(response, 200, { fine: true }));
    let dials = 0;
    const hangOnce: Dial = (host, port, signal) => {
      dials += 1;
      if (dials > 1) return dialTcp(host, port, signal);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await using t = await start({ deps: { dial: hangOnce } });
    const stuck = t.kube.general.request(GET, t.signal);
    await until(() => dials === 1, 'the attempt');
    t.kube.reconnect('heartbeats fail');
    await assert.rejects(stuck, (error) => codeOf(error) === 'unavailable');
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { fine: true });
  });

  test('waits for the rate limit', async () => {
    const clock = createManualClock();
    await using own = await startFakeServer({ pair });
    await using t = await start({ clock, cluster: to(own.port), config: { limit: { perSecond: 10, burst: 3 } } });
    const all = Promise.all(Array.from({ length: 5 }, () => t.kube.general.request(GET, t.signal)));
    await until(() => own.seen.length === 3, 'the burst');
    await t.kube.events.request(GET, t.signal);
    await t.kube.heartbeats.request(GET, t.signal);
    assert.equal(own.seen.length, 5, 'others are not held up');
    await clock.advance(100);
    await until(() => own.seen.length === 6, 'the fourth');
    await clock.advance(100);
    await all;
  });

  test('fails before the start and after the end', async () => {
    const t = await start();
    await t[Symbol.asyncDispose]();
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => codeOf(error) === 'unavailable');
  });
});

function cutAfterHalf(response: Parameters<Parameters<FakeServer['handle']>[0]>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"half":', () => void response.stream.session?.socket.destroy());
}
