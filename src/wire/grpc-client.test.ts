import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { RuntimeService } from './gen/cri-runtime-v1.ts';
import { createGrpcClient, timeoutHeader } from './grpc-client.ts';
import { createGrpcServer, type ServerCall, streamHandler, unaryHandler } from './grpc-server.ts';
import { clientOf, coded, hang, never, serve, socketPath } from './grpc-testing.ts';

const { version, listContainers, getContainerEvents } = RuntimeService;

test('a unary call: request, answer, deadline header', async (t) => {
  const path = await socketPath(t);
  const seen: unknown[] = [];
  await serve(
    t,
    path,
    unaryHandler(version, (request, call) => {
      seen.push(request, call.timeout);
      return { runtimeName: 'fake' };
    }),
  );
  const answer = await clientOf(t, path).unary(version, { version: 'v1' }, { signal: never, deadline: 5000 });
  assert.deepEqual(answer, { version: '', runtimeName: 'fake', runtimeVersion: '', runtimeApiVersion: '' });
  assert.deepEqual(seen, [{ version: 'v1' }, 5000]);
});

test('a large answer and hundreds of calls at once', async (t) => {
  const path = await socketPath(t);
  const containers = Array.from({ length: 2000 }, (_, index) => ({
    id: `${index}`.padStart(64, '0'),
    labels: { a: 'b'.repeat(500) },
  }));
  await serve(
    t,
    path,
    unaryHandler(listContainers, () => ({ containers })),
    unaryHandler(version, () => ({ version: '1' })),
  );
  const client = clientOf(t, path);
  const lists = client.unary(listContainers, {}, { signal: never });
  const calls = Array.from({ length: 500 }, () => client.unary(version, {}, { signal: never, deadline: 20_000 }));
  assert.deepEqual(new Set((await Promise.all(calls)).map((answer) => answer.version)), new Set(['1']));
  assert.deepEqual(
    (await lists).containers.map(({ id }) => id),
    containers.map(({ id }) => id),
  );
});

test('a stream: messages in order, then its end', async (t) => {
  const path = await socketPath(t);
  await serve(
    t,
    path,
    streamHandler(getContainerEvents, async (_, send) => {
      for (let index = 0; index < 100; index++) await send({ containerId: String(index) });
    }),
  );
  const ids: string[] = [];
  await clientOf(t, path).serverStream(
    getContainerEvents,
    {},
    { signal: never, onMessage: ({ containerId }) => ids.push(containerId) },
  );
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, index) => String(index)),
  );
});

test('a stream that ends without a message, and one that fails after some', async (t) => {
  const path = await socketPath(t);
  let fail = false;
  await serve(
    t,
    path,
    streamHandler(getContainerEvents, async (_, send) => {
      if (!fail) return;
      await send({ containerId: 'a' });
      throw new CodedError('exhausted', 'too many watchers');
    }),
  );
  const client = clientOf(t, path);
  const ids: string[] = [];
  const watch = () =>
    client.serverStream(
      getContainerEvents,
      {},
      { signal: never, onMessage: ({ containerId }) => ids.push(containerId) },
    );
  await watch();
  fail = true;
  await assert.rejects(watch(), coded('exhausted', /^rpc error: code = ResourceExhausted desc = too many watchers$/));
  assert.deepEqual(ids, ['a']);
});

test('an error has its code and its text, whatever characters are in it', async (t) => {
  const path = await socketPath(t);
  const text = 'no "grüße"\n100 % gone';
  await serve(
    t,
    path,
    unaryHandler(version, () => {
      throw new CodedError('notFound', text);
    }),
  );
  const client = clientOf(t, path);
  await assert.rejects(client.unary(version, {}, { signal: never }), (error) => {
    assert.ok(error instanceof CodedError);
    assert.equal(error.code, 'notFound');
    assert.deepEqual(error.data, { path: version.path, grpcStatus: 5, grpcName: 'NotFound', grpcMessage: text });
    return true;
  });
  await assert.rejects(client.unary(listContainers, {}, { signal: never }), coded('unsupported', /Unimplemented/));
});

test('an abort rejects with its reason and cancels the call on the other side', async (t) => {
  const path = await socketPath(t);
  const entered = Promise.withResolvers<ServerCall>();
  await serve(
    t,
    path,
    unaryHandler(version, (_, call) => {
      entered.resolve(call);
      return hang(call);
    }),
  );
  const controller = new AbortController();
  const reason = new Error('the pod is gone');
  const call = clientOf(t, path).unary(version, {}, { signal: controller.signal });
  const { signal } = await entered.promise;
  const cancelled = new Promise((resolve) => signal.addEventListener('abort', resolve));
  controller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
  await cancelled;
});

test('a call with an aborted signal is not made', async (t) => {
  const path = await socketPath(t);
  const client = clientOf(t, path);
  const reason = new Error('stopped');
  await assert.rejects(client.unary(version, {}, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
});

test('a call that takes too long ends at its deadline, and the connection goes on', async (t) => {
  const path = await socketPath(t);
  const cancelled = Promise.withResolvers<void>();
  await serve(
    t,
    path,
    unaryHandler(listContainers, async (_, call) => {
      await hang(call).finally(cancelled.resolve);
      return {};
    }),
    unaryHandler(version, () => ({ version: '1' })),
  );
  const client = clientOf(t, path);
  await assert.rejects(
    client.unary(listContainers, {}, { signal: never, deadline: 30 }),
    coded('deadline', /ListContainers: no answer within 30 ms/),
  );
  await cancelled.promise;
  assert.equal((await client.unary(version, {}, { signal: never })).version, '1');
});

test('a reader that throws ends its stream with that error, and no other', async (t) => {
  const path = await socketPath(t);
  await serve(
    t,
    path,
    streamHandler(getContainerEvents, async (_, send, call) => {
      await send({ containerId: 'a' });
      await hang(call);
    }),
    unaryHandler(version, () => ({ version: '1' })),
  );
  const client = clientOf(t, path);
  const bug = new Error('bug in the reader');
  const onMessage = () => {
    throw bug;
  };
  await assert.rejects(
    client.serverStream(getContainerEvents, {}, { signal: never, onMessage }),
    (error) => error === bug,
  );
  assert.equal((await client.unary(version, {}, { signal: never })).version, '1');
});

test('each call is reported when it is over', async (t) => {
  const path = await socketPath(t);
  await serve(
    t,
    path,
    unaryHandler(version, () => ({})),
  );
  const reports: [string, string | undefined][] = [];
  const client = createGrpcClient({
    endpoint: path,
    clock: createSystemClock(),
    onCall: (report) => reports.push([report.path, report.code]),
  });
  t.after(() => client.close());
  await client.unary(version, {}, { signal: never });
  await client.unary(listContainers, {}, { signal: never }).catch(() => undefined);
  await client.unary(version, {}, { signal: AbortSignal.abort() }).catch(() => undefined);
  assert.deepEqual(reports, [
    [version.path, undefined],
    [listContainers.path, 'unsupported'],
    [version.path, 'aborted'],
  ]);
});

test('a server refuses what is no single request', async (t) => {
  const path = await socketPath(t);
  const file = await socketPath(t);
  await serve(
    t,
    path,
    unaryHandler(version, () => ({})),
  );
  const other = createGrpcServer([]);
  await assert.rejects(other.listen(path), coded('unavailable', /cannot listen/));
  await assert.rejects(other.listen('tcp://x'), coded('invalid', /only Unix sockets/));
  const client = clientOf(t, file);
  await assert.rejects(
    client.unary(version, { version: 5 as never }, { signal: never }),
    coded('invalid', /version: 5/),
  );
});

const timeouts: readonly [number, string][] = [
  [0, '1m'],
  [0.2, '1m'],
  [1500, '1500m'],
  [99_999_999, '99999999m'],
  [100_000_000, '100000S'],
  [1e18, '99999999S'],
];
for (const [ms, header] of timeouts) test(`grpc-timeout of ${ms} ms`, () => assert.equal(timeoutHeader(ms), header));
