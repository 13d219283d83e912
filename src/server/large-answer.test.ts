/** Long answers over a real connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createSilentLogger } from '../base/logger.ts';
import { answerOn } from './answer.ts';
import { answerLarge, jsonWithList, type Pieces } from './large-answer.ts';
import { acceptsGzip } from './rules/negotiation.ts';

const LINE = `${'container_memory_usage_bytes{pod="a"} 1'.padEnd(999, ' ')}\n`;

async function serve(t: TestContext, pieces: () => Pieces) {
  const failures: Promise<Error | undefined>[] = [];
  const server = createServer((incoming, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has disconnected')));
    const exchange = {
      request: incoming,
      response,
      signal: gone.signal,
      path: '/',
      parameters: {},
      query: new URLSearchParams(),
      user: { name: 'x', groups: [] },
      log: createSilentLogger(),
      answer: (answer: Parameters<typeof answerOn>[2]) => answerOn(response, incoming.method ?? '', answer),
    };
    const answered = answerLarge(exchange, 'text/plain', pieces());
    failures.push(
      answered.then(
        () => undefined,
        (error: Error) => error,
      ),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask = async (headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> => {
    const asked = request({ host: '127.0.0.1', port, headers, method, agent: false });
    asked.end();
    const [incoming] = await once(asked, 'response');
    return incoming;
  };
  return { ask, failures };
}

const bodyOf = async (incoming: IncomingMessage) => Buffer.concat(await Array.fromAsync(incoming));

test('a short answer is sent as it is, in one piece', async (t) => {
  const { ask } = await serve(t, () => ['a\n', 'b\n']);
  const answer = await ask({ 'accept-encoding': 'gzip' });
  assert.equal((await bodyOf(answer)).toString(), 'a\nb\n');
  assert.deepEqual([answer.headers['content-encoding'], answer.headers['content-length']], [undefined, '4']);
});

test('a long one is compressed for clients that accept it, and is the same for all', async (t) => {
  const { ask, failures } = await serve(t, () => Array.from({ length: 500 }, () => LINE));
  const [packed, plain] = [await ask({ 'accept-encoding': 'deflate, gzip;q=0.5' }), await ask()];
  const [packedBody, plainBody] = [await bodyOf(packed), await bodyOf(plain)];
  assert.deepEqual([packed.headers['content-encoding'], plain.headers['content-encoding']], ['gzip', undefined]);
  assert.equal(plainBody.toString(), LINE.repeat(500));
  assert.equal(gunzipSync(packedBody).toString(), LINE.repeat(500));
  assert.ok(packedBody.length < plainBody.length / 10);
  assert.deepEqual(await Promise.all(failures), [undefined, undefined]);
  assert.equal(plain.headers['vary'], 'Accept-Encoding');
  const head = await ask({ 'accept-encoding': 'gzip' }, 'HEAD');
  assert.deepEqual([head.headers['content-type'], (await bodyOf(head)).length], ['text/plain', 0]);
});

test('it is made at the pace of the client, and no further once that has gone', async (t) => {
  let [made, isOver] = [0, false];
  const endless = function* () {
    try {
      for (;;) {
        made += 1;
        yield LINE.repeat(100);
      }
    } finally {
      isOver = true;
    }
  };
  const { ask, failures } = await serve(t, endless);
  const incoming = await ask();
  incoming.pause();
  let before = -1;
  // What the kernel and the streams hold is full some time: then nothing more is made.
  while (made !== before) {
    before = made;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  incoming.destroy();
  assert.match(String(await failures[0]), /[Pp]remature/);
  assert.ok(isOver);
});

test('a failure before the first piece is a failure of the request, which is not answered yet', async (t) => {
  const { ask, failures } = await serve(t, async function* () {
    yield* [];
    throw new Error('no statistics');
  });
  const answered = ask().then(
    () => true,
    () => false,
  );
  while (failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.match(String(await failures[0]), /no statistics/);
  t.after(() => answered);
});

test('a list is written one item at a time, as if it were one object', () => {
  const items = [{ a: 1, b: undefined }, { c: 'é"\n' }];
  assert.equal(
    [...jsonWithList({ kind: 'L', n: {} }, 'items', items)].join(''),
    JSON.stringify({ kind: 'L', n: {}, items }),
  );
  assert.equal([...jsonWithList({}, 'items', [])].join(''), '{"items":[]}');
});

test('who accepts compression', () => {
  for (const yes of ['gzip', 'deflate, GZIP', 'gzip;q=0.1', 'br;q=1, gzip ; q=1']) assert.ok(acceptsGzip(yes), yes);
  for (const no of ['', 'gzip;q=0', 'gzip; q=0.0', 'deflate', 'xgzip', 'identity']) assert.ok(!acceptsGzip(no), no);
});
