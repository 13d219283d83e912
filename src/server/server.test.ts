/** The ports themselves, by real connections: answers, certificates, the read-only port, a node without a cluster. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { after, before, describe, it } from 'node:test';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Exchange } from './routes.ts';
import { hanging, open as openAs, ROUTES, statusesOf } from './routes-testing.ts';
import { ask, askPlain, createFakeReviews, createTestPki, startTestServer, type TestPki } from './testing.ts';

let pki: TestPki;
before(async () => {
  pki = await createTestPki();
});
after(() => pki.remove());

const start = (more: Parameters<typeof startTestServer>[3] = {}, reviews = createFakeReviews()) =>
  startTestServer(pki, ROUTES, reviews, more);

const open = (port: number, more: ConnectionOptions = {}) => openAs(pki, port, more);

describe('answers', () => {
  it('have the parameters of the request, and the errors of handlers', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const get = (path: string) => ask(port, pki.ca, { path, pem: pki.clients.admin });
    const echo = JSON.parse((await get('/echo/x%20y/z?q=1&q=2')).body);
    assert.deepEqual(echo.parameters, { a: 'x y', b: 'z' });
    assert.deepEqual(echo.all, ['1', '2']);
    assert.deepEqual(echo.user, { name: 'admin', groups: ['team', 'system:authenticated'] });
    const thrown = await get('/throws');
    assert.deepEqual(
      [thrown.status, thrown.body, thrown.headers['content-type']],
      [500, 'broken inside', 'text/plain; charset=utf-8'],
    );
    const missing = await get('/missing');
    assert.equal(missing.status, 404);
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };
    assert.deepEqual(JSON.parse(missing.body), {
      ...status,
      message: 'pod "x" is not here',
      reason: 'NotFound',
      code: 404,
    });
    const details = { name: 'x', kind: 'pods' };
    const body = { ...status, message: 'pod does not exist', reason: 'NotFound', details, code: 404 };
    assert.deepEqual(JSON.parse((await get('/status')).body), body);
    const send = (body: string) => ask(port, pki.ca, { method: 'POST', path: '/body', body, pem: pki.clients.admin });
    assert.equal((await send('0123456789')).body, '0123456789');
    await send('x'.repeat(100_000)).catch(() => undefined);
    assert.equal((await send('again')).body, 'again', 'a body that was too long harms no one else');
    await assert.rejects(get('/half'), /aborted|hang up/, 'half an answer must not look whole');
  });

  it('are aborted when the client disconnects, and when the server stops', async () => {
    const running = await start();
    const port = running.server.ports().secure;
    const first = await open(port);
    first.write('GET /hang HTTP/1.1\r\nHost: n\r\n\r\n');
    while (hanging.exchange === undefined) await new Promise((turn) => setImmediate(turn));
    const { signal } = hanging.exchange;
    const aborted = new Promise((done) => signal.addEventListener('abort', done));
    first.destroy();
    await aborted;
    hanging.exchange = undefined;
    const second = await open(port);
    second.on('error', () => undefined);
    second.write('GET /hang HTTP/1.1\r\nHost: n\r\n\r\n');
    while (hanging.exchange === undefined) await new Promise((turn) => setImmediate(turn));
    const closed = new Promise((done) => second.once('close', done));
    await running[Symbol.asyncDispose]();
    await closed;
    assert.ok((hanging.exchange as Exchange).signal.aborted);
  });

  it('are counted, and those that enter a process are in the audit log', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    await ask(port, pki.ca, { path: '/pods', pem: pki.clients.admin });
    await ask(port, pki.ca, { path: '/nowhere/at/all' });
    await ask(port, pki.ca, { path: '/exec/p?command=id', pem: pki.clients.nobody, method: 'BREW' }).catch(
      () => undefined,
    );
    await ask(port, pki.ca, { path: '/exec/p?command=id', token: 'nobody-token' });
    await ask(port, pki.ca, {
      path: '/exec/none',
      pem: pki.clients.admin,
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    });
    const audited = () => running.lines.filter(({ message }) => message === 'Audit');
    while (audited().length < 4) await new Promise((turn) => setImmediate(turn));
    const text = running.metrics.render();
    assert.match(
      text,
      /kubelet_http_requests_total\{long_running="false",method="GET",path="pods",server_type="readwrite"\} 1\n/,
    );
    assert.match(
      text,
      /kubelet_http_requests_total\{long_running="false",method="GET",path="other",server_type="readwrite"\} 1\n/,
    );
    assert.match(
      text,
      /kubelet_http_requests_total\{long_running="true",method="GET",path="exec",server_type="readwrite"\} 2\n/,
    );
    assert.match(
      text,
      /kubelet_http_requests_duration_seconds_count\{long_running="false",method="GET",path="pods",server_type="readwrite"\} 1\n/,
    );
    const audits = audited().map(({ values }) => [values['stage'], values['action'], values['user'], values['status']]);
    assert.deepEqual(audits, [
      ['RequestReceived', 'exec', 'nobody', undefined],
      ['ResponseComplete', 'exec', 'nobody', 403],
      ['RequestReceived', 'exec', 'admin', undefined],
      ['ResponseComplete', 'exec', 'admin', 404],
    ]);
  });
});

describe('the audit log', () => {
  const audited = (lines: readonly { message: string; values: Readonly<Record<string, unknown>> }[]) =>
    lines.filter(({ message }) => message === 'Audit').map(({ values }) => values);

  it('has the user, the verb, the path and the outcome in short lines, and no credentials', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const path = `/exec/p?command=id&token=s3cret&pad=${'x'.repeat(300_000)}`;
    const headers = { 'user-agent': 'agent '.repeat(1000) };
    await ask(port, pki.ca, { path, pem: pki.clients.admin, headers });
    while (audited(running.lines).length < 2) await new Promise((turn) => setImmediate(turn));
    for (const [at, line] of audited(running.lines).entries()) {
      const text = JSON.stringify(line);
      assert.ok(text.length < 2048, `${text.length} characters`);
      assert.doesNotMatch(text, /s3cret/);
      assert.match(String(line['uri']), /^\/exec\/p\?command=id&token=<masked>&pad=xxx/);
      assert.deepEqual(
        [line['user'], line['method'], line['verb'], line['from'], line['status']],
        ['admin', 'GET', 'create', '127.0.0.1', at === 0 ? undefined : 400],
      );
    }
  });

  it('has few lines about unauthenticated callers, however many requests they send', async () => {
    await using running = await start();
    const port = running.server.ports().secure;
    const knock = () => ask(port, pki.ca, { path: '/exec/p?command=id' });
    const begun = performance.now();
    for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 20 }, knock));
    // Fifty at once, and five a second: a slow machine takes its time, in which there may be more.
    const most = 51 + (5 * (performance.now() - begun)) / 1000;
    const reasons = running.lines.filter(({ message }) => message === 'Unable to authenticate the request');
    assert.ok(reasons.length > 0 && reasons.length <= most, `${reasons.length} reasons for 200 requests`);
    assert.ok(audited(running.lines).length <= most, `${audited(running.lines).length} lines for 200 requests`);
    assert.ok(audited(running.lines).every(({ stage, status }) => stage === 'ResponseComplete' && status === 401));
    if (audited(running.lines).length === 200) return; // so slow that none had to be left out
    running.later(10_000);
    await knock();
    while (audited(running.lines).at(-1)?.['unlogged'] === undefined) await new Promise((turn) => setImmediate(turn));
  });
});

describe('TLS', () => {
  it('has at least the configured version', async () => {
    await using running = await start({ tls: { minVersion: 'VersionTLS13', cipherSuites: [], curves: [] } });
    await assert.rejects(
      open(running.server.ports().secure, { maxVersion: 'TLSv1.2' }),
      /protocol version|alert|reset/i,
    );
    const socket = await open(running.server.ports().secure);
    assert.equal(socket.getProtocol(), 'TLSv1.3');
    socket.destroy();
  });

  it('offers the configured suites and curves, and HTTP/1.1', async () => {
    const tls = { minVersion: 'VersionTLS12', cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'], curves: [23] };
    await using running = await start({ tls });
    const port = running.server.ports().secure;
    const socket = await open(port, { maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] });
    assert.deepEqual(
      [socket.getCipher().standardName, socket.alpnProtocol],
      ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'http/1.1'],
    );
    assert.equal((socket.getEphemeralKeyInfo() as { name: string }).name, 'prime256v1');
    socket.destroy();
    await assert.rejects(
      open(port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }),
      /handshake|alert/i,
    );
  });

  it('does not resume sessions: each connection is authenticated again', async () => {
    await using running = await start();
    const socket = await open(running.server.ports().secure, { maxVersion: 'TLSv1.2' });
    const session = socket.getSession();
    socket.destroy();
    const again = await open(running.server.ports().secure, { maxVersion: 'TLSv1.2', ...(session && { session }) });
    assert.equal(again.isSessionReused(), false);
    again.destroy();
  });

  it('uses new certificates and a new CA without a restart, also for open connections', {
    timeout: 120_000,
  }, async () => {
    const own = await createTestPki();
    try {
      await using running = await startTestServer(own, ROUTES, createFakeReviews(), { reloadEveryMs: 50 });
      const port = running.server.ports().secure;
      const agent = new Agent({ keepAlive: true });
      // A connection that the server has just closed may be taken once more: clients then make a new one.
      const status = async (pem = own.clients.admin, through = agent): Promise<number> => {
        const request = { path: '/pods', pem, agent: through };
        const answer = await ask(port, own.ca, request).catch(() => ask(port, own.ca, request));
        return answer.status;
      };
      assert.deepEqual([await status(), await status(own.other.admin, new Agent())], [200, 401]);
      writeFileSync(own.files.clientCa, own.other.ca);
      while (!running.lines.some(({ message }) => message.startsWith('Reloaded')))
        await new Promise((turn) => setTimeout(turn, 50));
      assert.deepEqual([await status(), await status(own.other.admin, new Agent())], [401, 200]);
      agent.destroy();
    } finally {
      own.remove();
    }
  });

  it('starts with a self-signed pair if none is configured, and not at all if one is broken', async () => {
    const own = await createTestPki();
    try {
      const files = { certificate: '', key: '', clientCa: '' };
      await using running = await startTestServer(own, ROUTES, createFakeReviews(), {
        files,
        certificateDirectory: `${own.directory}/made`,
      });
      const socket = await open(running.server.ports().secure, { rejectUnauthorized: false });
      assert.equal(socket.getPeerX509Certificate()?.subjectAltName, 'DNS:node');
      socket.destroy();
      // Without a CA of clients no one is known by a certificate, whoever signed it.
      const { status } = await ask(running.server.ports().secure, own.ca, {
        path: '/pods',
        pem: own.clients.admin,
      }).catch(() => ({ status: 0 }));
      assert.notEqual(status, 200);
      writeFileSync(own.files.key, 'broken');
      await assert.rejects(startTestServer(own, ROUTES, createFakeReviews()), /failed to read .*tls\.key/);
      await assert.rejects(
        startTestServer(own, ROUTES, createFakeReviews(), { files: { ...files, clientCa: '/none' } }),
        /ENOENT/,
      );
    } finally {
      own.remove();
    }
  });
});

describe('a certificate that the cluster signs', () => {
  it('is awaited without one, where no self-signed one is wanted, and is shown as soon as it is there', async () => {
    const own = await createTestPki();
    try {
      const signed = `${own.directory}/signed.pem`;
      await using running = await startTestServer(own, ROUTES, createFakeReviews(), {
        files: { certificate: '', key: '', clientCa: own.files.clientCa, signed },
        selfSigned: false,
        certificateDirectory: `${own.directory}/made`,
        reloadEveryMs: 20,
      });
      const { secure } = running.server.ports();
      await assert.rejects(open(secure, { rejectUnauthorized: false }), /handshake failure/);
      const both = readFileSync(own.files.certificate, 'utf8') + readFileSync(own.files.key, 'utf8');
      writeFileSync(signed, both);
      const shown = async (): Promise<TLSSocket> =>
        await open(secure, { rejectUnauthorized: false }).catch(async () => {
          await new Promise((wait) => setTimeout(wait, 20));
          return await shown();
        });
      const socket = await shown();
      assert.equal(
        socket.getPeerX509Certificate()?.fingerprint256,
        new X509Certificate(readFileSync(own.files.certificate)).fingerprint256,
      );
      socket.destroy();
      assert.ok(!existsSync(`${own.directory}/made`));
    } finally {
      own.remove();
    }
  });
});

describe('the read-only port', () => {
  it('serves the public pages over plain HTTP, and nothing else', async () => {
    await using running = await start({ readOnly: { address: '127.0.0.1', port: 0 } });
    const port = running.server.ports().readOnly;
    assert.equal((await askPlain(port, '/pods')).body, '{"kind":"PodList"}');
    assert.equal((await askPlain(port, '/throws')).status, 404);
    assert.equal((await askPlain(port, '/exec/p')).body, 'Debug endpoints are disabled.\n');
    assert.match(running.metrics.render(), /path="pods",server_type="readonly"\} 1\n/);
  });
});

describe('a node without a cluster', () => {
  it('accepts its own token and administrators of its CA, and no one else', async () => {
    const nodeTokenFile = `${pki.directory}/server-token`;
    await using running = await startTestServer(pki, ROUTES, undefined, { nodeTokenFile, tokenReviews: undefined });
    const port = running.server.ports().secure;
    const token = readFileSync(nodeTokenFile, 'utf8').trim();
    const status = async (request: object) => (await ask(port, pki.ca, { path: '/pods', ...request })).status;
    assert.deepEqual(
      [
        await status({ token }),
        await status({ token: 'x' }),
        await status({}),
        await status({ pem: pki.clients.admin }),
      ],
      [200, 401, 401, 403],
    );
    assert.ok(running.lines.some(({ message, values }) => /token/.test(message) && values['file'] === nodeTokenFile));
    assert.ok(!JSON.stringify(running.lines).includes(token), 'the token itself is not told');
    const led = async (headers: string) => {
      const socket = await open(port, { cert: '', key: '' });
      socket.write(`GET /pods HTTP/1.1\r\n${headers}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
      let text = '';
      for await (const chunk of socket) text += chunk;
      return statusesOf(text);
    };
    assert.deepEqual(
      [
        await led('Host: evil.example'),
        await led('Host: localhost\r\nOrigin: https://evil.example'),
        await led('Host: localhost'),
        await led('Host: localhost\r\nOrigin: https://localhost'),
      ],
      [[403], [403], [200], [200]],
      'browsers that another site leads here',
    );
  });

  it('with anonymous access on, a token of another authority makes its bearer anonymous', async () => {
    const nodeTokenFile = `${pki.directory}/server-token`;
    await using running = await startTestServer(pki, ROUTES, undefined, {
      nodeTokenFile,
      tokenReviews: undefined,
      anonymous: true,
      authorization: 'AlwaysAllow',
    });
    const port = running.server.ports().secure;
    const status = async (request: object) => (await ask(port, pki.ca, { path: '/pods', ...request })).status;
    assert.deepEqual([await status({ token: 'x' }), await status({})], [200, 200]);
  });
});
