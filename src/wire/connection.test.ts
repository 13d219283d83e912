import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { encode } from './encode.ts';
import { RuntimeService, VersionResponse } from './gen/cri-runtime-v1.ts';
import { frame } from './grpc-frames.ts';
import { createGrpcServer, unaryHandler } from './grpc-server.ts';
import {
  clientOf,
  coded,
  hang,
  never,
  serve,
  serveRaw,
  serveSockets,
  socketPath,
  withTrailers,
} from './grpc-testing.ts';

const { version, listContainers, getContainerEvents } = RuntimeService;

test('no server: unavailable; when the server is back, the next call works', async (t) => {
  const path = await socketPath(t);
  const client = clientOf(t, path);
  await assert.rejects(
    client.unary(version, {}, { signal: never }),
    coded('unavailable', /no connection to .*s\.sock/),
  );
  const first = createGrpcServer([unaryHandler(version, (_, call) => hang(call))]);
  await first.listen(path);
  const pending = [1, 2, 3].map(() => client.unary(version, {}, { signal: never }));
  const outcomes = Promise.allSettled(pending);
  await client.unary(listContainers, {}, { signal: never }).catch(() => undefined); // the three are on their way now
  await first.close();
  for (const outcome of await outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.equal(codeOf(outcome.reason), 'unavailable');
  }
  await serve(
    t,
    path,
    unaryHandler(version, () => ({ version: '2' })),
  );
  assert.equal((await client.unary(version, {}, { signal: never })).version, '2');
});

test('a peer that is away is asked again only after a short while, but each call asks', async (t) => {
  const path = await socketPath(t);
  const clock = createManualClock();
  const client = clientOf(t, path, { clock });
  const call = () => client.unary(version, {}, { signal: never });
  await assert.rejects(call(), coded('unavailable', /no connection/));
  const waiting = [call(), call()].map((promise) => assert.rejects(promise, coded('unavailable', /no connection/)));
  assert.equal(clock.sleepers(), 1, 'two calls share one attempt');
  await clock.advance(10);
  await Promise.all(waiting);
  await serve(
    t,
    path,
    unaryHandler(version, () => ({ version: '1' })),
  );
  const late = call();
  await clock.advance(19);
  assert.equal(clock.sleepers(), 1, 'the second pause is longer');
  await clock.advance(1);
  assert.equal((await late).version, '1');
});

test('GOAWAY: what is under way finishes, the next call takes a new connection', async (t) => {
  const path = await socketPath(t);
  const streams: ServerHttp2Stream[] = [];
  const arrived = Promise.withResolvers<void>();
  const answer = (stream: ServerHttp2Stream, text: string) =>
    withTrailers(stream, frame(encode(VersionResponse, { version: text })), { 'grpc-status': '0' });
  await serveRaw(t, path, (stream, method) => {
    streams.push(stream);
    if (method === version.path) arrived.resolve();
    else answer(stream, '');
  });
  const client = clientOf(t, path);
  const first = client.unary(version, {}, { signal: never });
  await arrived.promise;
  // As Go servers do it: all calls that were made are still answered.
  streams[0]?.session?.goaway(0, 2 ** 31 - 1);
  while (streams.at(-1)?.session === streams[0]?.session) await client.unary(listContainers, {}, { signal: never });
  answer(streams[0] as ServerHttp2Stream, 'on the old one');
  assert.equal((await first).version, 'on the old one');
});

test('a peer that hangs as a whole: after the deadline a ping, and without an answer all its calls end', async (t) => {
  const path = await socketPath(t);
  const accepted = Promise.withResolvers<Socket>();
  await serveSockets(t, path, accepted.resolve);
  const clock = createManualClock();
  const client = clientOf(t, path, { clock });
  const onMessage = () => assert.fail('a message');
  const stream = client.serverStream(getContainerEvents, {}, { signal: never, onMessage });
  const ended = assert.rejects(stream, coded('unavailable', /given up/));
  const socket = await accepted.promise;
  await once(socket, 'data');
  const call = client.unary(version, {}, { signal: never, deadline: 1000 });
  const late = assert.rejects(call, coded('deadline', /1000 ms/));
  await once(socket, 'data');
  await clock.advance(1000);
  await late;
  assert.equal(clock.sleepers(), 1, 'the ping is waited for');
  await clock.advance(5000);
  await ended;
});

test('a peer that is only slow with one call keeps its other calls', async (t) => {
  const path = await socketPath(t);
  const stuck = Promise.withResolvers<void>();
  const pinged = Promise.withResolvers<void>();
  await serveRaw(t, path, (stream, method) => {
    stream.session?.once('ping', () => pinged.resolve());
    if (method === version.path) stuck.resolve();
    else if (method === listContainers.path) withTrailers(stream, frame(Buffer.alloc(0)), { 'grpc-status': '0' });
  });
  const clock = createManualClock();
  const client = clientOf(t, path, { clock });
  const controller = new AbortController();
  const onMessage = () => assert.fail('a message');
  const stream = client.serverStream(getContainerEvents, {}, { signal: controller.signal, onMessage });
  const ended = assert.rejects(stream, (error) => error === controller.signal.reason);
  // One round trip, so that nothing is on its way when the slow call begins.
  await client.unary(listContainers, {}, { signal: never });
  const call = client.unary(version, {}, { signal: never, deadline: 1000 });
  const late = assert.rejects(call, coded('deadline', /1000 ms/));
  await stuck.promise;
  await clock.advance(1000);
  await late;
  await pinged.promise;
  while (clock.sleepers() > 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(5000);
  await client.unary(listContainers, {}, { signal: never });
  controller.abort(new Error('enough'));
  await ended;
});

test('garbage instead of HTTP/2', async (t) => {
  const path = await socketPath(t);
  await serveSockets(t, path, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const client = clientOf(t, path);
  for (let round = 0; round < 3; round++) {
    await assert.rejects(
      client.unary(version, {}, { signal: never, deadline: 5000 }),
      coded('unavailable', /connection/),
    );
  }
});

test('closing the client ends what is under way and what comes after', async (t) => {
  const path = await socketPath(t);
  const entered = Promise.withResolvers<void>();
  await serve(
    t,
    path,
    unaryHandler(version, (_, call) => {
      entered.resolve();
      return hang(call);
    }),
  );
  const client = clientOf(t, path);
  const pending = assert.rejects(
    client.unary(version, {}, { signal: never }),
    (error) => codeOf(error) === 'unavailable',
  );
  await entered.promise;
  await client.close();
  await pending;
  await assert.rejects(client.unary(version, {}, { signal: never }), coded('unavailable', /client was closed/));
});

test('a call that was refused unseen is made once more', async (t) => {
  const path = await socketPath(t);
  let calls = 0;
  await serveRaw(t, path, (stream) => {
    calls++;
    if (calls === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else withTrailers(stream, frame(encode(VersionResponse, { version: '1' })), { 'grpc-status': '0' });
  });
  assert.equal((await clientOf(t, path).unary(version, {}, { signal: never })).version, '1');
  assert.equal(calls, 2);
});
