import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { forwardPort } from './forward.ts';

const gate = {
  connect: async (host: string, port: number) => {
    const socket = connect(port, host);
    await once(socket, 'connect');
    return socket;
  },
};

const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port;

test('passes bytes on both ways, and takes another port where the one asked for is in use', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const target = { host: '127.0.0.1', port: portOf(echo) };
  const first = await forwardPort(gate, target, 0);
  const second = await forwardPort(gate, target, first.port);
  assert.notEqual(second.port, first.port);
  const client = connect(second.port, '127.0.0.1');
  client.write('hello');
  assert.equal(String((await once(client, 'data'))[0]), 'hello');
  const closed = once(client, 'close');
  second.close();
  await closed;
  first.close();
  echo.close();
});

test('a target that no one serves closes the connection', async () => {
  const forward = await forwardPort({ connect: () => Promise.reject(new Error('refused')) }, { host: 'x', port: 1 }, 0);
  const client = connect(forward.port, '127.0.0.1');
  await once(client, 'close');
  forward.close();
});
