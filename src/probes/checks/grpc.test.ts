import assert from 'node:assert/strict';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import { decode } from '../../wire/decode.ts';
import { encode } from '../../wire/encode.ts';
import { HealthCheckRequest, HealthCheckResponse } from '../../wire/gen/grpc-health-v1.ts';
import { FrameReader, frame } from '../../wire/grpc-frames.ts';
import { type Outcome, refusal } from '../rules/outcome.ts';
import { checkGrpc } from './grpc.ts';
import { answering, closedPort, never, serve, serveTcp } from './testing.ts';

const clock = createSystemClock();

function run(port: number, { service = '', timeoutMs = 3000, signal = never } = {}): Promise<Outcome> {
  return checkGrpc(clock, { host: '127.0.0.1', port, service, timeoutMs, userAgent: 'kube-probe/1.36' }, signal);
}

interface Answer {
  readonly status?: number;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A gRPC server with only the health service. */
function serveHealth(t: TestContext, answer: (service: string) => Answer | undefined, asked: string[] = []) {
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    asked.push(`${headers[':method']} ${headers[':path']} ${headers['content-type']} ${headers['user-agent']}`);
    const reader = new FrameReader('test', 1000, (bytes) => {
      const said = answer(decode(HealthCheckRequest, bytes).service);
      if (said === undefined) return;
      if (said.error !== undefined) {
        const { code, message } = said.error;
        const trailers = { 'grpc-status': String(code), 'grpc-message': message };
        stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...trailers }, { endStream: true });
        return;
      }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frame(encode(HealthCheckResponse, { status: said.status as 0 })));
    });
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
    stream.on('error', () => stream.destroy());
  });
  return serve(t, server);
}

const failed = (output: string): Outcome => ({ kind: 'failure', output });

test('the status of the service is the verdict', async (t) => {
  const asked: string[] = [];
  const statuses: Record<string, number> = { '': 1, up: 1, down: 2, odd: 0, gone: 3, new: 9 };
  const port = await serveHealth(t, (service) => ({ status: statuses[service] ?? 0 }), asked);
  assert.deepEqual(await run(port), { kind: 'success', output: 'service healthy' });
  assert.deepEqual(asked, ['POST /grpc.health.v1.Health/Check application/grpc kube-probe/1.36']);
  assert.deepEqual(await run(port, { service: 'up' }), { kind: 'success', output: 'service healthy' });
  assert.deepEqual(await run(port, { service: 'down' }), refusal('service unhealthy (responded with "NOT_SERVING")'));
  assert.deepEqual(await run(port, { service: 'odd' }), refusal('service unhealthy (responded with "UNKNOWN")'));
  assert.deepEqual(
    await run(port, { service: 'gone' }),
    refusal('service unhealthy (responded with "SERVICE_UNKNOWN")'),
  );
  assert.deepEqual(await run(port, { service: 'new' }), refusal('service unhealthy (responded with "9")'));
});

test('errors of the server', async (t) => {
  const errors: Record<string, { code: number; message: string }> = {
    a: { code: 12, message: 'unknown service grpc.health.v1.Health' },
    b: { code: 5, message: 'unknown service' },
    c: { code: 7, message: 'not%20you' },
  };
  const port = await serveHealth(t, (service) => ({ error: errors[service] ?? { code: 2, message: '' } }));
  assert.deepEqual(
    await run(port, { service: 'a' }),
    failed(
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health',
    ),
  );
  assert.deepEqual(
    await run(port, { service: 'b' }),
    failed('error: health rpc probe failed: rpc error: code = NotFound desc = unknown service'),
  );
  assert.deepEqual(
    await run(port, { service: 'c' }),
    failed('error: health rpc probe failed: rpc error: code = PermissionDenied desc = not you'),
  );
});

test('a server that never answers, is not there, or speaks something else', async (t) => {
  const silent = await serveHealth(t, () => undefined);
  assert.deepEqual(await run(silent, { timeoutMs: 300 }), failed('timeout: health rpc did not complete within 300ms'));
  const cannot = (port: number) =>
    failed(`timeout: failed to connect service "127.0.0.1:${port}" within 300ms: context deadline exceeded`);
  for (const port of [
    await closedPort(t),
    await serveTcp(t, () => undefined),
    await serveTcp(t, answering('HTTP/1.1 400 Bad Request\r\n\r\n')),
  ]) {
    const began = performance.now();
    assert.deepEqual(await run(port, { timeoutMs: 300 }), cannot(port));
    assert.ok(performance.now() - began < 60_000);
  }
});

test('a server that comes up within the timeout is healthy', async (t) => {
  let connections = 0;
  const health = await serveHealth(t, () => ({ status: 1 }));
  const port = await serveTcp(t, (socket) => {
    connections += 1;
    if (connections === 1) {
      socket.destroy();
      return;
    }
    const onwards = connect(health, '127.0.0.1');
    socket.pipe(onwards).pipe(socket);
    socket.once('close', () => onwards.destroy());
  });
  assert.deepEqual(await run(port, { timeoutMs: 5000 }), { kind: 'success', output: 'service healthy' });
});

test('an HTTP/2 server that is no gRPC server', async (t) => {
  let status = 404;
  const port = await serve(
    t,
    createServer((_, response) => void response.writeHead(status).end('what?')),
  );
  assert.deepEqual(
    await run(port),
    failed(
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ' +
        'unexpected HTTP status code received from server: 404 (Not Found)',
    ),
  );
  status = 503;
  assert.deepEqual(
    await run(port),
    failed(
      'error: health rpc probe failed: rpc error: code = Unavailable desc = ' +
        'unexpected HTTP status code received from server: 503 (Service Unavailable)',
    ),
  );
});

test('an abort is no outcome', async (t) => {
  const stop = new AbortController();
  const silent = await serveHealth(t, () => void stop.abort(new Error('not wanted')));
  await assert.rejects(run(silent, { signal: stop.signal }), /not wanted/);
});
