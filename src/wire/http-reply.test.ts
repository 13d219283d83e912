import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { readStart, readWhole } from './http-body.ts';
import { awaitReply, awaitUpgrade } from './http-reply.ts';
import { connectTcp, startTls } from './open-socket.ts';

const { signal } = new AbortController();

async function serve(t: TestContext, listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const send = (headers = {}) => {
    const outgoing = request({ host: '127.0.0.1', port, path: '/x?y', agent: false, headers });
    outgoing.end();
    return outgoing;
  };
  return { server, port, send };
}

describe('an HTTP/1.1 exchange', () => {
  test('gives the status, the headers and the whole body', async (t) => {
    const { send } = await serve(t, ({ url }, response) => response.writeHead(404, { ETag: '"a"' }).end(`no ${url}`));
    const reply = await awaitReply(send(), signal);
    assert.deepEqual([reply.httpStatus, reply.header('etag'), reply.header('location')], [404, '"a"', undefined]);
    assert.equal((await readWhole(reply, { mostBytes: 7, signal })).toString(), 'no /x?y');
  });

  test('fails on a body that is longer than the limit, and closes the connection', async (t) => {
    const { server, send } = await serve(t, (_, response) => response.end('x'.repeat(100_000)));
    const closed = once(server, 'connection').then(([socket]: Socket[]) => once(socket as Socket, 'close'));
    const reply = await awaitReply(send(), signal);
    await assert.rejects(readWhole(reply, { mostBytes: 10, signal }), /longer than 10 bytes/);
    await closed;
  });

  test('reads the start of a body that never ends', async (t) => {
    const { send } = await serve(t, (_, response) => void response.write('x'.repeat(100)));
    const reply = await awaitReply(send(), signal);
    assert.equal((await readStart(reply, { mostBytes: 10, signal })).toString(), 'xxxxxxxxxx');
  });

  test('reads the start of a body that is shorter than the limit', async (t) => {
    const { send } = await serve(t, (_, response) => response.end('short'));
    const reply = await awaitReply(send(), signal);
    assert.equal((await readStart(reply, { mostBytes: 10, signal })).toString(), 'short');
  });

  test('fails if the server hangs up before the answer', async (t) => {
    const { send } = await serve(t, ({ socket }) => socket.destroy());
    await assert.rejects(awaitReply(send(), signal), { code: 'ECONNRESET' });
  });

  test('fails if the server hangs up in the middle of the body', async (t) => {
    const { send } = await serve(t, ({ socket }, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('half', () => socket.destroy());
    });
    const reply = await awaitReply(send(), signal);
    await assert.rejects(readWhole(reply, { mostBytes: 100, signal }), /cut off/);
  });

  test('ends with the signal: before the answer and in the middle of it', async (t) => {
    const own = new AbortController();
    const { server, send } = await serve(t, (_, response) => {
      if (own.signal.aborted) response.write('some');
    });
    const waiting = awaitReply(send(), own.signal);
    await once(server, 'request');
    own.abort('stopped');
    await assert.rejects(waiting, (reason) => reason === 'stopped');
    await assert.rejects(awaitReply(send(), own.signal), (reason) => reason === 'stopped');

    const later = new AbortController();
    const reply = await awaitReply(send(), later.signal);
    const reading = readWhole(reply, { mostBytes: 100, signal: later.signal });
    later.abort('stopped later');
    await assert.rejects(reading, (reason) => reason === 'stopped later');
  });

  test('hands over the socket of a protocol that the server has changed to', async (t) => {
    const { server, send } = await serve(t, (_, response) => response.writeHead(400).end('no'));
    server.on('upgrade', (_, socket) =>
      socket.end('HTTP/1.1 101 Switched\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello'),
    );
    const upgrade = { Connection: 'Upgrade', Upgrade: 'echo' };
    const outcome = await awaitUpgrade(send(upgrade), signal);
    assert.ok(outcome.kind === 'upgraded');
    assert.equal(outcome.head.toString(), 'hello');
    outcome.socket.destroy();
    const refused = await awaitUpgrade(send(), signal);
    assert.ok(refused.kind === 'response');
    assert.equal(refused.reply.httpStatus, 400);
  });
});

describe('opening a socket', () => {
  test('fails with the error of the system, and with the reason of an abort', async (t) => {
    const { port } = await serve(t, () => undefined);
    (await connectTcp({ host: '127.0.0.1', port }, signal)).destroy();
    await assert.rejects(connectTcp({ host: '127.0.0.1', port: 1 }, signal), { code: 'ECONNREFUSED' });
    await assert.rejects(
      connectTcp({ host: '127.0.0.1', port }, AbortSignal.abort('over')),
      (reason) => reason === 'over',
    );
    const own = new AbortController();
    const connecting = connectTcp({ host: '127.0.0.1', port }, own.signal);
    own.abort('while connecting');
    await assert.rejects(connecting, (reason) => reason === 'while connecting');
  });

  test('fails if the server hangs up during the TLS handshake, and can be aborted in it', async (t) => {
    let isSilent = false;
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      if (!isSilent) socket.once('data', () => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const socket = await connectTcp({ host: '127.0.0.1', port }, signal);
    await assert.rejects(startTls({ socket, host: 'localhost' }, signal), { code: 'ECONNRESET' });
    assert.ok(socket.destroyed);

    isSilent = true;
    const own = new AbortController();
    const second = await connectTcp({ host: '127.0.0.1', port }, signal);
    const handshake = startTls({ socket: second, host: '127.0.0.1' }, own.signal);
    own.abort('over');
    await assert.rejects(handshake, (reason) => reason === 'over');
    assert.ok(second.destroyed);
  });
});
