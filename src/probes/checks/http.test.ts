import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { HttpGetAction } from '../../api/container.ts';
import { createSystemClock } from '../../base/clock.ts';
import { type Outcome, refusal } from '../rules/outcome.ts';
import { checkHttp } from './http.ts';
import { answering, closedPort, never, serve, serveTcp } from './testing.ts';

const clock = createSystemClock();

function run(action: HttpGetAction, timeoutMs = 3000, signal = never): Promise<Outcome> {
  const check = { action, container: { name: 'c' }, podIp: '127.0.0.1', timeoutMs, userAgent: 'kube-probe/1.36' };
  return checkHttp(clock, check, signal);
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const serveHttp = (t: TestContext, handler: Handler, host?: string) => serve(t, createServer(handler), host);

const failed = (output: string): Outcome => ({ kind: 'failure', output });

test('the verdict goes by the status', async (t) => {
  const port = await serveHttp(t, ({ url = '' }, response) => {
    response.writeHead(Number(url.slice(1))).end('a body');
  });
  const expected: readonly [number, Outcome][] = [
    [200, { kind: 'success', output: 'a body' }],
    [204, { kind: 'success', output: '' }],
    [299, { kind: 'success', output: 'a body' }],
    // A redirect that leads nowhere is an answer.
    [302, { kind: 'warning', output: 'Probe terminated redirects, Response body: a body' }],
    [304, { kind: 'warning', output: 'Probe terminated redirects, Response body: ' }],
    [399, { kind: 'warning', output: 'Probe terminated redirects, Response body: a body' }],
    [400, refusal('HTTP probe failed with statuscode: 400')],
    [404, refusal('HTTP probe failed with statuscode: 404')],
    [500, refusal('HTTP probe failed with statuscode: 500')],
    [503, refusal('HTTP probe failed with statuscode: 503')],
  ];
  for (const [status, outcome] of expected) {
    assert.deepEqual(await run({ port, path: `/${status}` }), outcome, String(status));
  }
});

test('what is sent: path, query, headers, no reuse of connections', async (t) => {
  const seen: { url: string | undefined; headers: readonly string[] }[] = [];
  const port = await serveHttp(t, (request, response) => {
    seen.push({ url: request.url, headers: request.rawHeaders });
    response.end();
  });
  await run({ port, path: 'a b?q=1' });
  await run({
    port,
    httpHeaders: [
      { name: 'Host', value: 'a.example' },
      { name: 'X-A', value: '1' },
      { name: 'X-A', value: '2' },
      { name: 'User-Agent', value: 'me' },
      { name: 'Accept', value: '' },
    ],
  });
  assert.deepEqual(seen, [
    {
      url: '/a%20b?q=1',
      headers: ['Host', `127.0.0.1:${port}`, 'User-Agent', 'kube-probe/1.36', 'Accept', '*/*', 'Connection', 'close'],
    },
    { url: '/', headers: ['Host', 'a.example', 'X-A', '1', 'X-A', '2', 'User-Agent', 'me', 'Connection', 'close'] },
  ]);
});

test('redirects on the same host are followed, one to another host is reported', async (t) => {
  const asked: string[] = [];
  const port = await serveHttp(t, ({ url = '', headers }, response) => {
    asked.push(`${headers.host}${url}`);
    const [, status, location] = /^\/(\d+)\?(.*)$/.exec(url) ?? [];
    if (location === undefined) response.writeHead(url === '/bad' ? 500 : 200).end('arrived');
    else response.writeHead(Number(status), { location: decodeURIComponent(location) }).end('go away');
  });
  const to = (location: string, status = 302) =>
    run({ port, path: `/${status}?${encodeURIComponent(location)}`, httpHeaders: [{ name: 'Host', value: 'me' }] });
  for (const status of [301, 302, 303, 307, 308]) {
    assert.deepEqual(await to('/new', status), { kind: 'success', output: 'arrived' }, String(status));
  }
  assert.equal(asked.at(-1), 'me/new', 'the host that the pod names goes with a redirect that names none');
  assert.deepEqual(await to(`http://127.0.0.1:${port}/abs`), { kind: 'success', output: 'arrived' });
  assert.equal(asked.at(-1), `127.0.0.1:${port}/abs`);
  assert.deepEqual(await to('/bad'), refusal('HTTP probe failed with statuscode: 500'));
  assert.deepEqual(await to('http://elsewhere.invalid/'), {
    kind: 'warning',
    output: 'Probe terminated redirects, Response body: go away',
  });
  const closed = await closedPort(t);
  assert.deepEqual(
    await to(`http://127.0.0.1:${closed}/x`),
    failed(`Get "http://127.0.0.1:${closed}/x": dial tcp 127.0.0.1:${closed}: connect: connection refused`),
  );
  assert.deepEqual(await to('ftp://127.0.0.1/x'), failed('Get "ftp://127.0.0.1/x": unsupported protocol scheme "ftp"'));
  const unreadable = await to('http://[');
  assert.match(
    unreadable.kind === 'failure' ? unreadable.output : '',
    /failed to parse Location header "http:\/\/\["$/,
  );
});

test('a circle of redirects ends', async (t) => {
  let asked = 0;
  const port = await serveHttp(t, (_, response) => {
    asked += 1;
    response.writeHead(302, { location: '/y' }).end();
  });
  assert.deepEqual(await run({ port, path: '/x' }), failed('Get "/y": stopped after 10 redirects'));
  assert.equal(asked, 10);
});

test('what goes wrong on the way', async (t) => {
  const closed = await closedPort(t);
  assert.deepEqual(
    await run({ port: closed, path: '/x' }),
    failed(`Get "http://127.0.0.1:${closed}/x": dial tcp 127.0.0.1:${closed}: connect: connection refused`),
  );
  const broken = 'net/http: HTTP/1.x transport connection broken:';
  const raw: readonly [text: string, expected: string][] = [
    ['', 'EOF'],
    ['hello\r\n\r\n', `${broken} malformed HTTP response "hello"`],
    ['HTTP/1.1 abc\r\n\r\n', `${broken} malformed HTTP status code "abc"`],
    ['HTTQ/1.1 200 OK\r\n\r\n', `${broken} malformed HTTP version "HTTQ/1.1"`],
    ['HTTP/1.1 200 OK\r\nX: ', `${broken} unexpected EOF`],
  ];
  for (const [text, expected] of raw) {
    const port = await serveTcp(t, answering(text));
    assert.deepEqual(await run({ port, path: '/x' }), failed(`Get "http://127.0.0.1:${port}/x": ${expected}`), text);
  }
  const resetting = await serveTcp(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const reset = await run({ port: resetting, path: '/' });
  const where = `127\\.0\\.0\\.1:\\d+->127\\.0\\.0\\.1:${resetting}`;
  assert.match(
    reset.kind === 'failure' ? reset.output : '',
    new RegExp(`^Get "http://127.0.0.1:${resetting}/": read tcp ${where}: read: connection reset by peer$`),
  );
  assert.deepEqual(await run({ port: 'web' }), {
    kind: 'error',
    state: 'unknown',
    message: 'port "web": the container has no port of that name',
  });
});

test('old and careless servers are understood', async (t) => {
  for (const text of [
    'HTTP/1.0 200 OK\r\n\r\nabc',
    'HTTP/1.1 200 OK\nX: y\n\nabc',
    `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\nabc`,
  ]) {
    const port = await serveTcp(t, answering(text));
    assert.deepEqual(await run({ port }), { kind: 'success', output: 'abc' }, text.slice(0, 40));
  }
  const upgrading = await serveTcp(
    t,
    answering('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  );
  assert.deepEqual(await run({ port: upgrading }), refusal('HTTP probe failed with statuscode: 101'));
});

test('a timeout before the answer is a failure; one within it says nothing', async (t) => {
  const silent = await serveTcp(t, () => undefined);
  const began = performance.now();
  assert.deepEqual(
    await run({ port: silent, path: '/x' }, 200),
    failed(
      `Get "http://127.0.0.1:${silent}/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    ),
  );
  const took = performance.now() - began;
  assert.ok(took >= 195 && took < 60_000, `${took} ms`);

  const stalling = await serveTcp(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'));
  });
  assert.deepEqual(await run({ port: stalling }, 200), {
    kind: 'error',
    state: 'failure',
    message: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
  });
  const cut = await serveTcp(t, answering('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'));
  assert.deepEqual(await run({ port: cut }), { kind: 'error', state: 'failure', message: 'unexpected EOF' });
});

test('an endless body is read only as far as it is shown', async (t) => {
  const port = await serveHttp(t, (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(4096)));
    };
    response.on('drain', more);
    more();
  });
  const outcome = await run({ port });
  assert.equal(outcome.kind === 'success' && outcome.output.length, 10 * 1024);
});

test('an abort rejects with its reason, at every stage', async (t) => {
  const silent = await serveTcp(t, () => undefined);
  const stop = new AbortController();
  const waiting = run({ port: silent }, 5000, stop.signal);
  setImmediate(() => stop.abort(new Error('not wanted')));
  await assert.rejects(waiting, /not wanted/);
  await assert.rejects(run({ port: silent }, 5000, stop.signal), /not wanted/);
});

function certificate(t: TestContext, bits: number): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'probe-cert-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const made = `req -x509 -newkey rsa:${bits} -nodes -days 1 -subj /CN=other.example -keyout ${key} -out ${cert}`;
  execFileSync('openssl', made.split(' '), { stdio: 'pipe' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

test('HTTPS: any certificate will do, HTTP/2 is spoken where the server prefers it', async (t) => {
  const weak = await serve(
    t,
    createTlsServer({ ...certificate(t, 1024), ciphers: 'DEFAULT@SECLEVEL=0' }, (request, response) => {
      response.end(`${request.httpVersion} ${request.headers.host} ${request.headers['user-agent']}`);
    }),
  );
  assert.deepEqual(await run({ port: weak, scheme: 'HTTPS' }), {
    kind: 'success',
    output: `1.1 127.0.0.1:${weak} kube-probe/1.36`,
  });
  const modern = createSecureServer(certificate(t, 2048), ({ httpVersion, headers, url }, response) => {
    response.writeHead(url === '/bad' ? 503 : 200).end(`${httpVersion} ${headers[':authority']} ${headers['x-a']}`);
  });
  const port = await serve(t, modern);
  const headers = [
    { name: 'X-A', value: 'b' },
    { name: 'Host', value: 'a.example' },
  ];
  assert.deepEqual(await run({ port, scheme: 'HTTPS', httpHeaders: headers }), {
    kind: 'success',
    output: '2.0 a.example b',
  });
  assert.deepEqual(
    await run({ port, scheme: 'HTTPS', path: '/bad' }),
    refusal('HTTP probe failed with statuscode: 503'),
  );
});

test('HTTPS: what goes wrong', async (t) => {
  const plain = await serveTcp(t, answering('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'));
  assert.deepEqual(
    await run({ port: plain, scheme: 'HTTPS', path: '/x' }),
    failed(`Get "https://127.0.0.1:${plain}/x": http: server gave HTTP response to HTTPS client`),
  );
  const closing = await serveTcp(t, answering(''));
  assert.deepEqual(
    await run({ port: closing, scheme: 'HTTPS', path: '/x' }),
    failed(`Get "https://127.0.0.1:${closing}/x": EOF`),
  );
  const silent = await serveTcp(t, () => undefined);
  const late = await run({ port: silent, scheme: 'HTTPS' }, 200);
  assert.match(late.kind === 'failure' ? late.output : '', /Client\.Timeout exceeded while awaiting headers/);
});

test('IPv6', async (t) => {
  const port = await serveHttp(t, ({ headers }, response) => void response.end(headers.host), '::1');
  const check = { container: { name: 'c' }, podIp: '::1', timeoutMs: 3000, userAgent: 'a' };
  assert.deepEqual(await checkHttp(clock, { ...check, action: { port } }, never), {
    kind: 'success',
    output: `[::1]:${port}`,
  });
  const closed = await closedPort(t);
  assert.deepEqual(
    await checkHttp(clock, { ...check, action: { port: closed } }, never),
    failed(`Get "http://[::1]:${closed}/": dial tcp [::1]:${closed}: connect: connection refused`),
  );
});
