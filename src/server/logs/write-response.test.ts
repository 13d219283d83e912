import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { createResponseWriter } from './write-response.ts';

test('a client that takes nothing of a stream is left after a time, one that takes it slowly is not', async (t) => {
  const outcomes: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    const write = createResponseWriter(response, 1500);
    const send = async () => {
      for (let sent = 0; request.url === '/stalled' || sent < 1000; sent += 1) await write(Buffer.alloc(64 << 10));
      response.end();
    };
    outcomes.push(send().catch((error: Error) => error));
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = async (path: string) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n`);
    await once(server, 'request');
    return socket;
  };
  const stalled = await client('/stalled');
  stalled.pause();
  assert.match(String(await outcomes[0]), /the client has gone/);
  stalled.destroy();
  const slow = await client('/slow');
  let taken = 0;
  for await (const piece of slow) {
    taken += piece.length;
    // Thirty pauses, together far longer than the limit.
    if (taken % (2 << 20) < piece.length) await new Promise((resolve) => setTimeout(resolve, 60));
  }
  assert.equal(await outcomes[1], undefined);
});
