import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createSystemClock } from '../../base/clock.ts';
import type { Part } from '../../base/lifecycle.ts';
import { createSilentLogger, type Logger } from '../../base/logger.ts';
import { createTestSupervisor } from '../../base/supervise-testing.ts';
import { createHealthChecks, type HealthChecks } from './checks.ts';
import { createHealthServer } from './health.ts';
import { healthPage } from './page.ts';

const clock = createSystemClock();
const healthy = () => undefined;

async function listenAnywhere(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

async function freePort(): Promise<number> {
  const { server, port } = await listenAnywhere();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('health port', { timeout: 120_000 }, () => {
  let part: Part;
  let checks: HealthChecks;
  let stopping: AbortController;
  let port: number;
  const errors: string[] = [];
  const log: Logger = { ...createSilentLogger(), error: (message) => void errors.push(message) };
  const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const text = async (path: string) => (await get(path)).text();

  beforeEach(async () => {
    port = await freePort();
    checks = createHealthChecks();
    stopping = new AbortController();
    errors.length = 0;
    part = createHealthServer(
      { address: '127.0.0.1', port },
      { clock, supervisor: createTestSupervisor(clock), log, checks },
    );
    checks.add({ name: 'ping', check: healthy });
    checks.add({ name: 'syncloop', check: () => Promise.resolve(undefined) });
  });
  afterEach(async () => {
    stopping.abort(new Error('stopped'));
    await part.stop?.();
  });

  it('answers in the format that monitoring tools know', async () => {
    await part.start(stopping.signal);
    const answer = await get('/healthz');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(await answer.text(), 'ok');
    assert.equal(await text('/healthz?verbose'), '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n');
    assert.equal(await text('/healthz/ping'), 'ok');
  });

  it('is unhealthy if one check is, shows the reason only on the page of the check, and can exclude a check', async () => {
    checks.add({ name: 'runtime', check: () => 'no socket' });
    await part.start(stopping.signal);
    const answer = await get('/healthz');
    assert.equal(answer.status, 500);
    const lines = '[+]ping ok\n[+]syncloop ok\n[-]runtime failed: reason withheld\nhealthz check failed\n';
    assert.equal(await answer.text(), lines);
    const one = await get('/healthz/runtime');
    assert.deepEqual([one.status, await one.text()], [500, 'internal server error: no socket\n']);
    assert.equal((await get('/healthz?exclude=runtime')).status, 200);
    assert.match(
      await text('/healthz?verbose&exclude=runtime&exclude=x'),
      /\[\+\]runtime excluded: ok\nwarn: .* no matches for "x"\n/,
    );
  });

  it('counts a check that throws or hangs as failed', async () => {
    checks.add({ name: 'throws', check: () => Promise.reject(new Error('broken')) });
    checks.add({ name: 'hangs', check: () => new Promise(() => undefined) });
    await part.start(stopping.signal);
    const started = clock.mono();
    assert.match(await text('/healthz'), /\[-\]throws failed.*\n\[-\]hangs failed/);
    assert.ok(clock.mono() - started < 60_000);
    assert.match(await text('/healthz/hangs'), /no answer within \d+ ms/);
  });

  it('allows adding and removing checks while it runs', async () => {
    await part.start(stopping.signal);
    const remove = checks.add({ name: 'late', check: () => 'not yet' });
    assert.equal((await get('/healthz')).status, 500);
    remove();
    assert.equal((await get('/healthz')).status, 200);
    assert.equal((await get('/healthz/late')).status, 404);
    assert.throws(() => checks.add({ name: 'ping', check: healthy }), /ping exists already/);
  });

  for (const [method, path, status] of [
    ['GET', '/', 404],
    ['GET', '/healthz/', 404],
    ['GET', '/healthz/nope', 404],
    ['GET', '/healthzz', 404],
    ['GET', '//evil/healthz', 404],
    ['POST', '/healthz', 405],
    ['GET', '/configz', 404],
    ['DELETE', '/healthz/ping', 405],
    ['POST', '/nope', 404],
    ['HEAD', '/healthz', 200],
  ] as const) {
    it(`answers ${status} to ${method} ${path}`, async () => {
      await part.start(stopping.signal);
      const answer = await get(path, { method });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('allow'), status === 405 ? 'GET, HEAD' : null);
      if (method === 'HEAD') assert.equal(await answer.text(), '');
    });
  }

  it('retries while the port is in use, until it is free', async () => {
    const other = await listenAnywhere();
    port = other.port;
    part = createHealthServer(
      { address: '127.0.0.1', port },
      { clock, supervisor: createTestSupervisor(clock), log, checks },
    );
    await part.start(stopping.signal);
    assert.deepEqual(errors, ['Failed to start healthz server']);
    await new Promise((resolve) => other.server.close(resolve));
    while ((await get('/healthz').catch(() => undefined)) === undefined) await clock.sleep(20, stopping.signal);
    assert.equal(await text('/healthz'), 'ok');
  });

  it('stops at once although a client stays connected and a check hangs', async () => {
    checks.add({ name: 'hangs', check: () => new Promise(() => undefined) });
    await part.start(stopping.signal);
    const asked = get('/healthz').catch(() => 'cut');
    await clock.sleep(50, stopping.signal);
    const started = clock.mono();
    stopping.abort(new Error('stopped'));
    await part.stop?.();
    assert.ok(clock.mono() - started < 60_000);
    await asked;
    await assert.rejects(get('/healthz'));
  });

  it('answers although hundreds of silent connections are open, and closes them', async () => {
    await part.start(stopping.signal);
    const idle = [];
    for (let at = 0; at < 300; at += 1) {
      const socket = connect({ host: '127.0.0.1', port });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      idle.push(socket);
    }
    assert.equal(await text('/healthz'), 'ok');
    // The first of them gave way; a client that is slow with its head would be answered 408 later.
    await Promise.all(idle.slice(0, 40).map((socket) => (socket.closed ? undefined : once(socket, 'close'))));
    for (const socket of idle) socket.destroy();
    const long = await fetch(`http://127.0.0.1:${port}/healthz?${'x'.repeat(20_000)}`);
    assert.equal(long.status, 431);
  });

  it('is off with port 0', async () => {
    part = createHealthServer(
      { address: '127.0.0.1', port: 0 },
      { clock, supervisor: createTestSupervisor(clock), log, checks },
    );
    await part.start(stopping.signal);
    await assert.rejects(get('/healthz'));
  });
});

describe('health page', () => {
  it('sorts and names unknown exclusions once', () => {
    const { status, body } = healthPage([{ name: 'ping', reason: undefined }], {
      verbose: true,
      excluded: ['z', 'b', 'z'],
    });
    assert.equal(status, 200);
    assert.equal(
      body,
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "b", "z"\nhealthz check passed\n',
    );
  });
});
