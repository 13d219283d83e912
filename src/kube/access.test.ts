/** Ways to a server and ways to prove who one is, each against a real TLS server. */

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiPath } from '../api/api-path.ts';
import { codeOf, describeError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createReachability } from './reachability.ts';
import {
  createTestPki,
  type FakeServer,
  type KeyPair,
  sendJson,
  sendStatus,
  startFakeServer,
  startRelay,
  startTestKube,
  type TestKubeOptions,
  type TestPki,
  until,
} from './testing.ts';

const GET = { method: 'GET', path: apiPath`/api/v1/nodes/a` } as const;
const EXEC_V1 = 'client.authentication.k8s.io/v1';

describe('access to the API server works', () => {
  let pki: TestPki;
  let pair: KeyPair;
  let server: FakeServer;
  before(async () => {
    pki = await createTestPki();
    pair = await pki.issue('server', 'kube', ['127.0.0.1', 'kube.example']);
    server = await startFakeServer({ pair, clientCa: pki.ca.cert });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await pki[Symbol.asyncDispose]();
  });
  const to = (port: number, more: object = {}) => ({
    server: `https://127.0.0.1:${port}`,
    'certificate-authority': pki.ca.cert,
    ...more,
  });
  const start = (options: Partial<TestKubeOptions> = {}) =>
    startTestKube({ directory: pki.directory, cluster: to(server.port), ...options });
  const inline = async (path: string) => (await readFile(path)).toString('base64');
  /** A server that wants no certificate. */
  const open = (more: object = {}) => startFakeServer({ pair, ...more });

  test('with a client certificate in files', async () => {
    const own = await pki.issue('client', 'system:node:a');
    server.handle((seen, response) => sendJson(response, 200, { client: seen.client }));
    await using t = await start({ user: { 'client-certificate': own.cert, 'client-key': own.key } });
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { client: 'system:node:a' });
  });

  test('with a client certificate in the kubeconfig itself', async () => {
    const own = await pki.issue('inline', 'system:node:b');
    await using t = await start({
      cluster: {
        server: `https://127.0.0.1:${server.port}`,
        'certificate-authority-data': await inline(pki.ca.cert),
      },
      user: { 'client-certificate-data': await inline(own.cert), 'client-key-data': await inline(own.key) },
    });
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { client: 'system:node:b' });
  });

  test('with paths that are relative to the kubeconfig', async () => {
    await pki.issue('relative', 'system:node:c');
    const user = { 'client-certificate': 'relative.crt', 'client-key': './relative.key' };
    await using t = await start({ user, cluster: to(server.port, { 'certificate-authority': 'ca.crt' }) });
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { client: 'system:node:c' });
  });

  test('with a new certificate after the files have changed, also for watches', async () => {
    const own = await pki.issue('rotated', 'old');
    const clock = createManualClock();
    const names: string[] = [];
    server.handle((seen, response) => {
      if (seen.query.get('watch') === 'true') {
        names.push(String(seen.client));
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } })}\n`);
      } else sendJson(response, 200, { client: seen.client, metadata: { resourceVersion: '5' }, items: [] });
    });
    await using t = await start({ clock, user: { 'client-certificate': own.cert, 'client-key': own.key } });
    const nothing = () => undefined;
    const listener = { replaced: nothing, changed: nothing, removed: nothing };
    const watch = t.kube.watch({ path: apiPath`/api/v1/pods`, listener });
    await watch.start(t.signal);
    await until(() => names.length === 1, 'the first watch');
    await writeFile(own.key, 'half written');
    await clock.advance(10_000);
    await pki.issue('rotated', 'new');
    for (let look = 0; look < 50 && names.length < 2; look += 1) {
      await until(() => clock.sleepers() > 0, 'the look at the files');
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until(() => names.length === 2, 'the second watch');
    assert.deepEqual(names, ['old', 'new']);
    assert.equal(((await t.kube.general.request(GET, t.signal)) as { client: string }).client, 'new');
    await watch.stop?.();
  });

  test('with a changed kubeconfig, as soon as it is complete and names the same server', async () => {
    const clock = createManualClock();
    const [old, next] = [await pki.issue('inline-old', 'old'), await pki.issue('inline-new', 'new')];
    const cluster = {
      server: `https://127.0.0.1:${server.port}`,
      'certificate-authority-data': await inline(pki.ca.cert),
    };
    const userOf = async ({ cert, key }: { cert: string; key: string }) => ({
      'client-certificate-data': await inline(cert),
      'client-key-data': await inline(key),
    });
    server.handle((seen, response) => sendJson(response, 200, { client: seen.client }));
    await using t = await start({ clock, cluster, user: await userOf(old) });
    const clientNow = async () => ((await t.kube.general.request(GET, t.signal)) as { client: string }).client;
    const looked = async () => {
      await until(() => clock.sleepers() > 0, 'the look at the files');
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
    };
    assert.equal(await clientNow(), 'old');
    await t.rewrite(cluster, { 'client-certificate-data': 'half' });
    await looked();
    assert.equal(await clientNow(), 'old', 'what can not be used is not');
    await t.rewrite({ ...cluster, server: 'https://192.0.2.1:6443' }, await userOf(next));
    await looked();
    assert.equal(await clientNow(), 'old', 'another server would be another cluster');
    await t.rewrite(cluster, await userOf(next));
    for (let look = 0; look < 50 && (await clientNow()) !== 'new'; look += 1) await looked();
    assert.equal(await clientNow(), 'new');
  });

  test('with a token', async () => {
    await using own = await open();
    await using t = await start({ cluster: to(own.port), user: { token: 'abc' } });
    await t.kube.general.request(GET, t.signal);
    assert.equal(own.seen[0]?.headers.authorization, 'Bearer abc');
  });

  test('with user and password', async () => {
    await using own = await open();
    await using t = await start({ cluster: to(own.port), user: { username: 'me', password: 'pä:ss' } });
    await t.kube.general.request(GET, t.signal);
    assert.equal(own.seen[0]?.headers.authorization, `Basic ${Buffer.from('me:pä:ss').toString('base64')}`);
  });

  test('with a token file, which is read again periodically', async () => {
    await using own = await open();
    const clock = createManualClock();
    const tokenFile = join(pki.directory, 'token');
    await writeFile(tokenFile, 'one\n');
    await using t = await start({ clock, cluster: to(own.port), user: { tokenFile: 'token', token: 'never' } });
    const tokenOf = async () => {
      await t.kube.general.request(GET, t.signal);
      return own.seen.at(-1)?.headers.authorization;
    };
    assert.equal(await tokenOf(), 'Bearer one');
    await writeFile(tokenFile, 'two\n');
    assert.equal(await tokenOf(), 'Bearer one', 'fresh enough');
    await clock.advance(10_000);
    assert.equal(await tokenOf(), 'Bearer two');
    await rm(tokenFile);
    await clock.advance(10_000);
    assert.equal(await tokenOf(), 'Bearer two', 'the last one is better than none');
  });

  test('with a token file that is read at once when the server refuses the token', async () => {
    await using own = await open();
    own.handle((seen, response) =>
      seen.headers.authorization === 'Bearer new'
        ? sendJson(response, 200, {})
        : sendStatus(response, 401, 'Unauthorized'),
    );
    const tokenFile = join(pki.directory, 'refused-token');
    await writeFile(tokenFile, 'old');
    await using t = await start({ cluster: to(own.port), user: { tokenFile } });
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => codeOf(error) === 'unauthenticated');
    assert.equal(own.seen.length, 1, 'the same token is not tried twice');
    await writeFile(tokenFile, 'new');
    await t.kube.general.request(GET, t.signal);
  });

  test('with a token file that was missing, as soon as it exists', async () => {
    await using own = await open();
    const tokenFile = join(pki.directory, 'later-token');
    await using t = await start({ cluster: to(own.port), user: { tokenFile } });
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => {
      assert.equal(codeOf(error), 'unavailable');
      assert.match(describeError(error), /failed to read the token file .*later-token: ENOENT/);
      return true;
    });
    await writeFile(tokenFile, 'now');
    await t.kube.general.request(GET, t.signal);
  });

  test('with an exec plugin, which runs again when its credentials have expired or are refused', async () => {
    await using own = await open();
    const clock = createManualClock(Date.parse('2026-01-01T00:00:00Z'));
    const runs: string[] = [];
    const run = (program: { path: string; environment: Readonly<Record<string, string | undefined>> }) => {
      runs.push(program.path);
      const token = `token-${runs.length}`;
      const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
      const info = JSON.parse(program.environment['KUBERNETES_EXEC_INFO'] ?? '') as { spec: { cluster?: object } };
      assert.equal(program.environment['REGION'], 'x');
      assert.ok(info.spec.cluster !== undefined);
      const status = { token, expirationTimestamp };
      return Promise.resolve(JSON.stringify({ kind: 'ExecCredential', apiVersion: EXEC_V1, status }));
    };
    const exec = {
      apiVersion: EXEC_V1,
      command: './plugins/login',
      interactiveMode: 'Never',
      env: [{ name: 'REGION', value: 'x' }],
      provideClusterInfo: true,
    };
    await using t = await start({ clock, cluster: to(own.port), user: { exec }, deps: { run } });
    const tokenOf = async () => {
      await t.kube.general.request(GET, t.signal);
      return own.seen.at(-1)?.headers.authorization;
    };
    assert.equal(await tokenOf(), 'Bearer token-1');
    assert.equal(await tokenOf(), 'Bearer token-1');
    await clock.advance(60_000);
    assert.equal(await tokenOf(), 'Bearer token-2');
    own.handle((seen, response) =>
      seen.headers.authorization === 'Bearer token-2'
        ? sendStatus(response, 401, 'Unauthorized')
        : sendJson(response, 200, {}),
    );
    assert.equal(await tokenOf(), 'Bearer token-3');
    own.handle((_seen, response) => sendStatus(response, 401, 'Unauthorized'));
    for (let tries = 0; tries < 5; tries += 1) await assert.rejects(t.kube.general.request(GET, t.signal));
    assert.equal(runs.length, 3, 'not one run for every refusal');
    assert.equal(runs[0], join(pki.directory, 'plugins', 'login'));
  });

  test('with a certificate that is issued only later, and then it is said', async () => {
    const said: string[] = [];
    const state = { isAwaited: true };
    const own = join(pki.directory, 'issued-later.pem');
    const refusals: string[] = [];
    const clientCertificate = {
      path: () => (state.isAwaited ? undefined : own),
      isAwaited: () => state.isAwaited,
      refused: () => void refusals.push('401'),
    };
    server.handle((seen, response) => sendJson(response, 200, { client: seen.client }));
    const user = { 'client-certificate': own, 'client-key': own };
    await using t = await start({ user, deps: { clientCertificate } });
    t.kube.onBack('test', () => void said.push('back'));
    assert.equal(t.kube.awaitsCertificate?.(), true);
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) =>
      /ENOENT.*issued-later\.pem/.test(describeError(error)),
    );
    const { cert, key } = await pki.issue('later', 'system:node:later');
    await writeFile(own, (await readFile(cert, 'utf8')) + (await readFile(key, 'utf8')));
    state.isAwaited = false;
    await t.kube.refreshCredentials('issued');
    assert.deepEqual([t.kube.awaitsCertificate?.(), said], [false, ['back']]);
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { client: 'system:node:later' });
    const before = said.length;
    await t.kube.refreshCredentials('renewed');
    assert.equal(said.length, before, 'a renewal is no end of an outage');
    assert.equal(refusals.length, 0);
    server.handle((_seen, response) => sendStatus(response, 401, 'Unauthorized'));
    await assert.rejects(t.kube.general.request(GET, t.signal), { code: 'unauthenticated' });
    assert.ok(refusals.length > 0, 'an answer 401 was not reported');
  });

  test('while its certificate is awaited, it is not said that the server does not answer', async () => {
    const warnings: string[] = [];
    const log = { ...createSilentLogger(), warn: (message: string) => void warnings.push(message) };
    const clock = createManualClock();
    const state = { isAwaited: true };
    const reachability = createReachability({
      ...{ clock, log, supervisor: createTestSupervisor(clock), random: () => 0, server: 'https://192.0.2.1' },
      clientCertificate: { isAwaited: () => state.isAwaited },
      probe: () => Promise.reject(new Error('there is no certificate')),
    });
    reachability.failed(new Error('there is no certificate'));
    await clock.advance(60_000);
    reachability.failed(new Error('there is no certificate'));
    assert.deepEqual(warnings, []);
    state.isAwaited = false;
    reachability.failed(new Error('no connection'));
    assert.deepEqual(warnings, ['The API server does not answer']);
    reachability.stop();
  });

  test('with a certificate that a real program prints', async () => {
    const own = await pki.issue('by-plugin', 'system:node:p');
    const [clientCertificateData, clientKeyData] = await Promise.all(
      [own.cert, own.key].map((path) => readFile(path, 'utf8')),
    );
    const answer = JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: EXEC_V1,
      status: { clientCertificateData, clientKeyData },
    });
    await mkdir(join(pki.directory, 'bin'), { recursive: true });
    const command = join(pki.directory, 'bin', 'print');
    await writeFile(command, `#!/bin/sh\ncat <<'END'\n${answer}\nEND\n`);
    await chmod(command, 0o755);
    server.handle((seen, response) => sendJson(response, 200, { client: seen.client }));
    const exec = { apiVersion: EXEC_V1, command, interactiveMode: 'Never' };
    await using t = await start({ user: { exec } });
    assert.deepEqual(await t.kube.general.request(GET, t.signal), { client: 'system:node:p' });
  });

  const badPrograms: readonly [string, string, RegExp][] = [
    ['fails', 'echo no luck >&2; exit 3', /plugin .* gave no credentials.*ask the admins.*ended with code 3: no luck/s],
    ['prints no JSON', 'echo s3cret', /credential plugin .*: its output is not a JSON object/],
    ['is missing', '', /gave no credentials.*ask the admins.*can't be run/s],
  ];
  for (const [what, script, words] of badPrograms) {
    test(`not with an exec plugin that ${what}`, async () => {
      const command = join(pki.directory, `bad-${what.replaceAll(' ', '-')}`);
      if (script !== '') {
        await writeFile(command, `#!/bin/sh\n${script}\n`);
        await chmod(command, 0o755);
      }
      const exec = { apiVersion: EXEC_V1, command, interactiveMode: 'Never', installHint: 'ask the admins' };
      await using t = await start({ user: { exec } });
      await assert.rejects(t.kube.general.request(GET, t.signal), (error) => {
        assert.equal(codeOf(error), 'unavailable');
        assert.match(describeError(error), words);
        assert.doesNotMatch(describeError(error), /s3cret/);
        return true;
      });
    });
  }

  test('to a server whose certificate has another name, with tls-server-name', async () => {
    const other = await pki.issue('other', 'other', ['kube.internal']);
    await using own = await startFakeServer({ pair: other });
    const words = async (more: object) => {
      await using t = await start({ cluster: to(own.port, more) });
      return await t.kube.general.request(GET, t.signal).then(
        () => 'fine',
        (error: unknown) => `${codeOf(error)} ${describeError(error)}`,
      );
    };
    assert.match(await words({}), /^unavailable .*TLS handshake with https:\/\/127\.0\.0\.1:\d+ failed: .*altnames/);
    assert.equal(await words({ 'tls-server-name': 'kube.internal' }), 'fine');
    assert.match(await words({ 'tls-server-name': 'kube.external' }), /altnames/);
    const careless = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true };
    assert.equal(await words(careless), 'fine');
    assert.match(await words({ 'certificate-authority': undefined }), /unable to verify|self.signed|local issuer/);
  });

  test('to a server whose certificate changes, but not to one of an unknown authority', async () => {
    await using own = await open();
    await using t = await start({ cluster: to(own.port) });
    await t.kube.general.request(GET, t.signal);
    await own.present(await pki.issue('renewed', 'kube', ['127.0.0.1']));
    own.cut();
    await until(() => own.sessions.size === 0, 'the cut');
    await t.kube.general.request(GET, t.signal);
    await using other = await createTestPki();
    await own.present(await other.issue('server', 'kube', ['127.0.0.1']));
    own.cut();
    await until(() => own.sessions.size === 0, 'the cut');
    await assert.rejects(t.kube.general.request(GET, t.signal), (error) => codeOf(error) === 'unavailable');
    await own.present(pair);
    await t.kube.general.request(GET, t.signal);
  });

  test('to a server with HTTP/1.1 only', async () => {
    await using own = await open({ http2: false });
    own.handle((seen, response) => {
      if (seen.query.get('watch') === 'true') {
        response.writeHead(200);
        response.write(
          `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '6' } } })}\n`,
        );
      } else sendJson(response, 200, { metadata: { resourceVersion: '5' }, items: [], got: seen.body });
    });
    await using t = await start({ cluster: to(own.port) });
    const changed: string[] = [];
    const watch = t.kube.watch({
      path: apiPath`/api/v1/pods`,
      listener: {
        replaced: () => undefined,
        changed: ({ metadata }) => changed.push(metadata.name),
        removed: () => undefined,
      },
    });
    await watch.start(t.signal);
    await until(() => changed.length === 1, 'an event');
    const answers = await Promise.all(
      [1, 2, 3].map((body) =>
        t.kube.general.request<{ got: string }>({ method: 'POST', path: apiPath`/x`, body }, t.signal),
      ),
    );
    assert.deepEqual(
      answers.map(({ got }) => got),
      ['1', '2', '3'],
    );
    assert.equal(own.seen[0]?.version, '1.1');
    t.kube.reconnect('to see whether it comes back');
    await until(() => changed.length === 2, 'an event of a new watch');
    await watch.stop?.();
  });

  test('again after a server with HTTP/1.1 stopped answering', async () => {
    await using own = await open({ http2: false });
    await using relay = await startRelay(own.port);
    const clock = createManualClock();
    await using t = await start({ clock, cluster: to(relay.port) });
    await t.kube.general.request(GET, t.signal);
    relay.block(true);
    const stuck = t.kube.general.request({ ...GET, timeoutMs: 3_600_000 }, t.signal);
    const judged = assert.rejects(stuck, (error) => /does not answer/.test(describeError(error)));
    for (let look = 0; look < 20; look += 1) await clock.advance(10_000);
    await judged;
    relay.block(false);
    await t.kube.general.request(GET, t.signal);
  });

  test('to a server without TLS', async () => {
    await using own = await startFakeServer({});
    await using t = await start({ cluster: { server: `http://127.0.0.1:${own.port}` } });
    await t.kube.general.request(GET, t.signal);
    own.cut();
    await t.kube.general.request(GET, t.signal).catch(() => undefined); // the old socket may be found dead only now
    await t.kube.general.request(GET, t.signal);
  });

  const startProxy = async (proxy: Server) => {
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return {
      port: (proxy.address() as AddressInfo).port,
      [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void proxy.close(() => resolve())),
    };
  };

  test('through an HTTP proxy, and fails if the proxy refuses', async () => {
    await using own = await open();
    const asked: string[] = [];
    const proxy = createHttpServer().on('connect', (request, near: Socket) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
      if (request.headers['proxy-authorization'] === undefined) {
        near.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join2(near, connect(own.port, '127.0.0.1'));
    });
    await using running = await startProxy(proxy);
    const through = (login: string) => to(own.port, { 'proxy-url': `http://${login}127.0.0.1:${running.port}` });
    {
      await using t = await start({ cluster: through('me:pw@') });
      await t.kube.general.request(GET, t.signal);
    }
    assert.deepEqual(asked, [`127.0.0.1:${own.port} Basic ${Buffer.from('me:pw').toString('base64')}`]);
    await using refused = await start({ cluster: through('') });
    await assert.rejects(refused.kube.general.request(GET, refused.signal), (error) =>
      /proxy http:\/\/127.0.0.1:\d+: CONNECT .* was refused: HTTP\/1.1 407/.test(describeError(error)),
    );
  });

  test('through a SOCKS5 proxy, with and without a password', async () => {
    await using own = await open();
    for (const login of ['', 'me:pw@']) {
      await using running = await startProxy(createSocksServer(login !== ''));
      const cluster = to(own.port, { 'proxy-url': `socks5://${login}127.0.0.1:${running.port}` });
      await using t = await start({ cluster });
      await t.kube.general.request(GET, t.signal);
      const wrong = to(own.port, { 'proxy-url': `socks5://you:no@127.0.0.1:${running.port}` });
      await using u = await start({ cluster: wrong });
      const answer = u.kube.general.request(GET, u.signal);
      if (login === '') await answer;
      else await assert.rejects(answer, (error) => /refused this user/.test(describeError(error)));
    }
  });

  const badFiles: readonly [string, () => object, object | undefined, RegExp][] = [
    [
      'a missing authority',
      () => ({}),
      { 'certificate-authority': '/no/ca.crt' },
      /failed to read the .*authority \/no\/ca\.crt: ENOENT/,
    ],
    [
      'a missing certificate',
      () => ({ 'client-certificate': 'no.crt', 'client-key': 'ca.key' }),
      undefined,
      /failed to read the .*certificate .*no\.crt/,
    ],
    [
      'a missing key',
      () => ({ 'client-certificate': 'ca.crt', 'client-key': 'no.key' }),
      undefined,
      /failed to read the client key .*no\.key/,
    ],
    [
      'a foreign key',
      () => ({ 'client-certificate': 'ca.crt', 'client-key': 'server.key' }),
      undefined,
      /not a matching pair/,
    ],
    [
      'a file without PEM',
      () => ({ 'client-certificate': 'x.kubeconfig', 'client-key': 'ca.key' }),
      undefined,
      /is not in PEM format/,
    ],
  ];
  for (const [what, user, cluster, words] of badFiles) {
    test(`not at all with ${what}: the start fails`, async () => {
      await writeFile(join(pki.directory, 'x.kubeconfig'), '{}');
      const started = start({ user: user(), cluster: to(server.port, cluster) });
      await assert.rejects(started, (error) => words.test(describeError(error)));
    });
  }
});

function join2(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
}

/** Takes one request after the other from the bytes; enough for one client that waits for answers. */
function createSocksServer(wantsLogin: boolean): Server {
  return createServer((near) => {
    let step = wantsLogin ? 'greeting' : 'plain greeting';
    near.on('error', () => undefined);
    const onData = (bytes: Buffer) => {
      if (step === 'plain greeting') {
        near.write(Buffer.from([5, 0]));
        step = 'request';
      } else if (step === 'greeting') {
        near.write(Buffer.from([5, 2]));
        step = 'login';
      } else if (step === 'login') {
        near.write(Buffer.from([1, bytes.toString('latin1').includes('me') ? 0 : 1]));
        step = 'request';
      } else {
        near.off('data', onData);
        const far = connect(bytes.readUInt16BE(8), Array.from(bytes.subarray(4, 8)).join('.'));
        near.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        join2(near, far);
      }
    };
    near.on('data', onData);
  });
}
