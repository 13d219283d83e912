import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createSilentLogger } from '../../base/logger.ts';
import type { Answer, UpgradeExchange } from '../routes.ts';
import { passThrough } from './pass-through.ts';

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

type Runtime = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/** A runtime's server that does what is told, and a server before it that passes everything on to it. */
async function createChain(t: TestContext, onUpgrade: Runtime, stop = new AbortController()) {
  const runtime = createServer((_, response) =>
    response.writeHead(418, { 'Content-Type': 'text/x' }).end('no session'),
  );
  runtime.on('upgrade', onUpgrade);
  const url = `http://127.0.0.1:${await listen(t, runtime)}/exec/token`;
  const sockets: Socket[] = [];
  let over = 0;
  const front = createServer();
  front.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.push(socket);
    const answer = ({ status, body = '' }: Answer) => socket.end(`HTTP/1.1 ${status} X\r\n\r\n${body.toString()}`);
    const exchange = { request, socket, head, signal: stop.signal, log: createSilentLogger(), answer };
    void passThrough(exchange as unknown as UpgradeExchange, url).finally(() => {
      over += 1;
    });
  });
  const port = await listen(t, front);
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { port, stop, over: () => over };
}

function ask(port: number, more = UPGRADE, method = 'POST'): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(`${method} /exec HTTP/1.1\r\nHost: node\r\n${more}\r\n`);
  return socket;
}

const ACCEPT =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Twice: a\r\nx-twice: b\r\n\r\n';

test('the head, the first bytes and the headers are passed on unchanged, and the end of one direction leaves the other open', async (t) => {
  let headers: readonly string[] = [];
  const { port, over } = await createChain(t, (request, socket, head) => {
    headers = request.rawHeaders;
    socket.write(`${ACCEPT}first`);
    const parts = [head];
    socket.on('data', (part: Buffer) => parts.push(part));
    // Only when the client has said all it has to say.
    socket.on('end', () => socket.end(`you said ${Buffer.concat(parts).toString()}`));
  });
  const client = ask(
    port,
    `${UPGRADE}Authorization: Bearer secret\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n`,
  );
  client.end('early');
  assert.equal((await buffer(client)).toString(), `${ACCEPT}firstyou said early`);
  assert.ok(headers.includes('v4.channel.k8s.io'));
  assert.ok(!headers.join().includes('secret'));
  while (over() === 0) await new Promise((resolve) => setImmediate(resolve));
});

test('a GET is passed on as a GET, without a body that the runtime would read as the first frame', async (t) => {
  const { port } = await createChain(t, (request, socket, head) => {
    assert.equal(head.length, 0);
    socket.end(`${ACCEPT}${request.method}`);
  });
  const client = ask(port, UPGRADE, 'GET');
  assert.match((await buffer(client)).toString(), /\r\n\r\nGET$/);
});

test('64 MB in each direction to a slow reader arrive complete, and little of it is buffered', {
  timeout: 120_000,
}, async (t) => {
  const piece = randomBytes(1024 * 1024);
  const pieces = 64;
  const expected = createHash('sha256');
  for (let count = 0; count < pieces; count += 1) expected.update(piece);
  const sum = expected.digest('hex');
  let runtimeSocket: Socket | undefined;
  const { port } = await createChain(t, (_, socket, head) => {
    runtimeSocket = socket;
    socket.write(ACCEPT);
    socket.write(head);
    socket.pipe(socket);
  });
  const client = ask(port);
  await new Promise<void>((resolve) => client.once('data', () => resolve()));
  client.pause();
  let sent = 0;
  const send = async () => {
    for (; sent < pieces; sent += 1) {
      if (!client.write(piece)) await new Promise((resolve) => client.once('drain', resolve));
    }
    client.end();
  };
  const sending = send();
  // No one reads: the writer is held up long before everything is sent.
  for (let last = -1; last !== sent || last < 1; ) {
    last = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.ok(sent < pieces / 2, `${sent} MB were taken although no one reads`);
  assert.ok((runtimeSocket?.writableLength ?? 0) < 4 * 1024 * 1024);
  const received = createHash('sha256');
  for await (const part of client) received.update(part);
  await sending;
  assert.equal(received.digest('hex'), sum);
});

test('a refusal of the runtime has its own text', async (t) => {
  const { port } = await createChain(t, (_, socket) => {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 13\r\n\r\nno v5 support');
  });
  assert.equal((await buffer(ask(port))).toString(), 'HTTP/1.1 403 X\r\n\r\nno v5 support');
});

test('an answer that is neither upgrade nor refusal is an error, and so is a runtime that is down', async (t) => {
  const { port } = await createChain(t, (_, socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  assert.match(
    (await buffer(ask(port))).toString(),
    /^HTTP\/1.1 500 X\r\n\r\ninvalid upgrade response: status code 200/,
  );
  const gone = await createChain(t, (_, socket) => socket.destroy());
  assert.match((await buffer(ask(gone.port))).toString(), /^HTTP\/1.1 500 X/);
});

test('an upgrade with a body is not passed on', async (t) => {
  const { port } = await createChain(t, () => assert.fail('it was passed on'));
  const answered = await buffer(ask(port, `${UPGRADE}Content-Length: 3\r\n`));
  assert.match(answered.toString(), /^HTTP\/1.1 400 X/);
});

for (const who of ['client', 'runtime', 'signal'] as const) {
  test(`both sides end when the ${who} disconnects`, async (t) => {
    const runtimeGone = Promise.withResolvers<void>();
    let runtimeSocket: Socket | undefined;
    const { port, stop, over } = await createChain(t, (_, socket) => {
      runtimeSocket = socket;
      socket.on('error', () => undefined).on('close', () => runtimeGone.resolve());
      socket.on('end', () => socket.end());
      socket.resume().write(ACCEPT);
    });
    const client = ask(port);
    client.on('error', () => undefined);
    await new Promise<void>((resolve) => client.once('data', () => resolve()));
    const clientGone = new Promise<void>((resolve) => client.once('close', () => resolve()));
    client.resume().once('end', () => client.end());
    if (who === 'client') client.resetAndDestroy();
    else if (who === 'runtime') runtimeSocket?.resetAndDestroy();
    else stop.abort(new Error('stopping'));
    await Promise.all([clientGone, runtimeGone.promise]);
    while (over() === 0) await new Promise((resolve) => setImmediate(resolve));
  });
}
