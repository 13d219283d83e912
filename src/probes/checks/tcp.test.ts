import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { dialProblem } from './dial.ts';
import { checkTcp } from './tcp.ts';
import { closedPort, never, serveTcp } from './testing.ts';

const clock = createSystemClock();
const container = { name: 'c', ports: [] };

test('a TCP check opens a connection and closes it', async (t) => {
  const closed = Promise.withResolvers<void>();
  const port = await serveTcp(t, (socket) => {
    socket.once('close', () => closed.resolve());
    socket.resume();
  });
  const check = { action: { port }, container, podIp: '127.0.0.1', timeoutMs: 1000 };
  assert.deepEqual(await checkTcp(clock, check, never), { kind: 'success', output: '' });
  await closed.promise;
});

test('a TCP check that fails says why', async (t) => {
  const port = await closedPort(t);
  const base = { container, podIp: '127.0.0.1', timeoutMs: 1000 };
  assert.deepEqual(await checkTcp(clock, { ...base, action: { port } }, never), {
    kind: 'failure',
    output: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
  assert.deepEqual(await checkTcp(clock, { ...base, action: { port, host: '::1' } }, never), {
    kind: 'failure',
    output: `dial tcp [::1]:${port}: connect: connection refused`,
  });
  assert.deepEqual(await checkTcp(clock, { ...base, action: { port: 'x' } }, never), {
    kind: 'error',
    state: 'unknown',
    message: 'port "x": the container has no port of that name',
  });
});

test('an abort is no outcome', async () => {
  const stop = new AbortController();
  stop.abort(new Error('not wanted'));
  const check = { action: { port: 9 }, container, podIp: '127.0.0.1', timeoutMs: 1000 };
  await assert.rejects(checkTcp(createManualClock(), check, stop.signal), /not wanted/);
});

const error = (fields: object) => Object.assign(new Error('node says'), fields);

const problems: readonly [unknown, string][] = [
  [error({ code: 'ECONNREFUSED', errno: -111, syscall: 'connect' }), 'dial tcp h:1: connect: connection refused'],
  [error({ code: 'EHOSTUNREACH', errno: -113, syscall: 'connect' }), 'dial tcp h:1: connect: no route to host'],
  [error({ code: 'ENETUNREACH', errno: -101, syscall: 'connect' }), 'dial tcp h:1: connect: network is unreachable'],
  [error({ code: 'ETIMEDOUT', errno: -110, syscall: 'connect' }), 'dial tcp h:1: connect: connection timed out'],
  [error({ code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo' }), 'dial tcp: lookup h: no such host'],
  [error({ code: 'EAI_AGAIN', errno: -3001, syscall: 'getaddrinfo' }), 'dial tcp: lookup h: EAI_AGAIN'],
  [
    new AggregateError([error({ code: 'ECONNREFUSED', errno: -111, syscall: 'connect' }), error({})]),
    'dial tcp h:1: connect: connection refused',
  ],
];

for (const [cause, expected] of problems) {
  test(expected, () => {
    assert.equal(dialProblem('h', 1, cause), expected);
  });
}
