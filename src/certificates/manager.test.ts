import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { CodedError, describeError } from '../base/errors.ts';
import { createSilentLogger, type LogValues } from '../base/logger.ts';
import { createManualClock, type ManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { KubeObject, KubeRequest, WatchListener } from '../kube/kube.ts';
import { makeKey, nameOfRequest, signRequest } from './key.ts';
import { createCertificateManager, type ManagerConfig, type ManagerDeps } from './manager.ts';
import { clientTemplate, servingTemplate } from './rules/node-template.ts';
import { CLIENT_SIGNER, type SigningRequest, usagesOf } from './rules/signing-request.ts';
import { createCertificateStore } from './store.ts';

const log = createSilentLogger();
const signal = new AbortController().signal;
const DAY = 86_400_000;

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Lets everybody pass to the directory inside a temporary one. */
const openWay = (directory: string) => chmodSync(join(directory, '..'), 0o755);

/** Signs requests with OpenSSL, as a reader and signer that is not ours. */
function createSigner(directory: string) {
  const path = (name: string) => join(directory, name);
  mkdirSync(directory, { recursive: true });
  const run = (...args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  run(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=ca',
    '-days',
    '9999',
    '-keyout',
    path('ca.key'),
    '-out',
    path('ca.crt'),
  );
  const date = (ms: number) => `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  writeFileSync(
    path('ca.cnf'),
    `[ca]\ndefault_ca=one\n[one]\ndir=${directory}\ndatabase=${path('index')}\nnew_certs_dir=${directory}\nrand_serial=yes\ncertificate=${path('ca.crt')}\nprivate_key=${path('ca.key')}\ndefault_md=sha256\npolicy=any\ncopy_extensions=copy\nunique_subject=no\n[any]\norganizationName=optional\ncommonName=supplied\n`,
  );
  writeFileSync(path('index'), '');
  return {
    sign: (request: string, from: number, days: number): string => {
      writeFileSync(path('one.csr'), request);
      const dates = ['-startdate', date(from), '-enddate', date(from + days * DAY)];
      run(
        'ca',
        '-batch',
        '-notext',
        '-config',
        path('ca.cnf'),
        '-in',
        path('one.csr'),
        '-out',
        path('one.crt'),
        ...dates,
      );
      return readFileSync(path('one.crt'), 'latin1');
    },
    text: (request: string): string => {
      writeFileSync(path('one.csr'), request);
      return run('req', '-in', path('one.csr'), '-noout', '-text', '-verify');
    },
  };
}

type Verdict = 'approve' | 'deny' | 'ignore' | Error;

/** An API server that decides on requests at once, as it is told. */
function createApi(clock: ManualClock, signer: ReturnType<typeof createSigner>) {
  const requests: { name: string; spec: { request: string; signerName: string; usages: string[] } }[] = [];
  const listeners = new Map<string, WatchListener<KubeObject>>();
  const objects = new Map<string, SigningRequest>();
  const state = { verdict: 'approve' as Verdict, days: 100, now: clock.now };
  const decide = (name: string) => {
    const known = objects.get(name);
    if (known === undefined || state.verdict === 'ignore' || state.verdict instanceof Error) return;
    const request = Buffer.from(known.spec?.request ?? '', 'base64').toString();
    const status =
      state.verdict === 'deny'
        ? { conditions: [{ type: 'Denied', reason: 'No', message: 'not you' }] }
        : {
            conditions: [{ type: 'Approved' }],
            certificate: Buffer.from(signer.sign(request, state.now(), state.days)).toString('base64'),
          };
    objects.set(name, { ...known, status });
    listeners.get(name)?.changed(objects.get(name) as unknown as KubeObject);
  };
  const api = {
    general: {
      request: <A>({ method, path, body }: KubeRequest): Promise<A> => {
        if (state.verdict instanceof Error) return Promise.reject(state.verdict);
        if (method === 'GET') return Promise.resolve(objects.get(path.split('/').at(-1) ?? '') as A);
        const given = body as {
          metadata: { name?: string; generateName?: string };
          spec: (typeof requests)[0]['spec'];
        };
        const name = given.metadata.name ?? `${given.metadata.generateName}${requests.length}`;
        if (objects.has(name)) return Promise.reject(new CodedError('exists', `${name} exists`));
        requests.push({ name, spec: given.spec });
        const made: SigningRequest = { metadata: { name, uid: `uid-${name}` }, spec: given.spec };
        objects.set(name, made);
        return Promise.resolve(made as A);
      },
    },
    watch: ({ fieldSelector, listener }: { fieldSelector?: string; listener: WatchListener<never> }) => {
      const name = fieldSelector?.split('=')[1] ?? '';
      return {
        name,
        start: () => {
          listeners.set(name, listener as unknown as WatchListener<KubeObject>);
          decide(name);
        },
        stop: () => void listeners.delete(name),
      };
    },
  } as unknown as Awaited<ReturnType<ManagerDeps['api']>>;
  return { api, requests, state, decide };
}

function managed(t: TestContext, change: Partial<ManagerDeps> = {}, config: Partial<ManagerConfig> = {}) {
  const directory = temporary(t);
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const signer = createSigner(join(directory, 'ca'));
  const server = createApi(clock, signer);
  const store = createCertificateStore({ clock, log }, join(directory, 'pki'), 'kubelet-client');
  /** How the store is written to; a test may do it as somebody else. */
  let update = <T>(write: () => Promise<T>) => write();
  const renewed: number[] = [];
  const failures: number[] = [];
  const manager = createCertificateManager(
    {
      clock,
      log,
      supervisor: createTestSupervisor(clock),
      random: () => 0.5,
      store: { ...store, update: (pair) => update(() => store.update(pair)) },
      api: () => Promise.resolve(server.api),
      template: () => clientTemplate('n1'),
      lastingKey: () => undefined,
      onChange: () => Promise.resolve(void renewed.push(clock.now())),
      onFailure: () => void failures.push(clock.now()),
      ...change,
    },
    {
      name: 'client certificate',
      signerName: CLIENT_SIGNER,
      usages: usagesOf('client auth'),
      rotates: true,
      ...config,
    },
  );
  t.after(() => manager.stop?.());
  /** Keys are made and files written in real time. */
  const until = async (what: string, is: () => boolean) => {
    for (let turn = 0; !is(); turn += 1) {
      if (turn > 20_000) throw new Error(`not reached: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  /** Moves the clock on in steps meanwhile: the timer that is awaited may be set later than the test sees its reason. */
  const passUntil = async (what: string, stepMs: number, is: () => boolean) => {
    for (let turn = 0; !is(); turn += 1) {
      if (turn > 2000) throw new Error(`not reached: ${what}`);
      await clock.advance(stepMs);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const setUpdate = (next: typeof update) => {
    update = next;
  };
  return {
    directory: join(directory, 'pki'),
    clock,
    server,
    store,
    manager,
    renewed,
    failures,
    until,
    passUntil,
    signer,
    setUpdate,
  };
}

describe('a managed certificate', () => {
  test('is requested where there is none, written in the layout of the reference, and renewed for a year', async (t) => {
    const { manager, server, renewed, until, clock, directory } = managed(t);
    await manager.start(signal);
    await until('the first', () => renewed.length === 1);
    assert.deepEqual(server.requests[0]?.spec.usages, ['digital signature', 'client auth']);
    assert.equal(server.requests[0]?.spec.signerName, CLIENT_SIGNER);
    assert.match(server.requests[0]?.name ?? '', /^csr-/);
    const names = readdirSync(directory).sort();
    assert.equal(names.length, 2);
    assert.match(names[0] ?? '', /^kubelet-client-\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d\.pem$/);
    assert.equal(readlinkSync(join(directory, 'kubelet-client-current.pem')), join(directory, names[0] ?? ''));
    assert.equal(statSync(join(directory, names[0] ?? '')).mode & 0o777, 0o600);
    const text = readFileSync(join(directory, 'kubelet-client-current.pem'), 'latin1');
    assert.match(text, /^-----BEGIN CERTIFICATE-----[\s\S]+-----BEGIN EC PRIVATE KEY-----/);
    for (let renewals = 1; renewals < 5; renewals += 1) {
      await until('it rests', () => manager.progress().kind === 'good' && clock.sleepers() > 0);
      const next = clock.now() + 80 * DAY;
      while (clock.now() < next && renewed.length === renewals) {
        await clock.advance(DAY / 2);
        await new Promise((turn) => setImmediate(turn));
      }
      await until('renewed', () => renewed.length === renewals + 1);
      const shares = ((renewed.at(-1) ?? 0) - (renewed.at(-2) ?? 0)) / (100 * DAY);
      assert.ok(shares > 0.69 && shares < 0.92, `renewed after ${shares} of its life`);
    }
  });

  test('that is denied is said so, and not asked for again at once; a server that is away is tried again soon', async (t) => {
    const { manager, server, failures, until, passUntil, clock, renewed } = managed(t);
    server.state.verdict = 'deny';
    await manager.start(signal);
    await until('denied', () => failures.length === 1);
    assert.match(JSON.stringify(manager.progress()), /is denied, reason: \\"No\\", message: \\"not you\\"/);
    await until('it rests', () => clock.sleepers() > 0);
    await clock.advance(500_000);
    assert.equal(server.requests.length, 1);
    server.state.verdict = new Error('no connection');
    await passUntil('away', 100_000, () => failures.length >= 2);
    server.state.verdict = 'approve';
    await passUntil('there again', 2000, () => renewed.length >= 1);
    assert.deepEqual(manager.progress(), { kind: 'good' });
  });

  test('keeps the request of a key that outlives the process, and shows that it waits for approval', async (t) => {
    const key = await makeKey();
    const removed: string[] = [];
    const lastingKey = { load: () => Promise.resolve(key), remove: async () => void removed.push('') };
    const { manager, server, until, renewed } = managed(t, { lastingKey: () => lastingKey });
    server.state.verdict = 'ignore';
    await manager.start(signal);
    const name = nameOfRequest(clientTemplate('n1'), key, usagesOf('client auth'));
    await until('pending', () => manager.progress().kind === 'pending');
    assert.equal(server.requests[0]?.name, name);
    assert.match(name, /^node-csr-[\w-]{43}$/);
    server.state.verdict = 'approve';
    server.decide(name);
    await until('issued', () => renewed.length === 1);
    assert.equal(removed.length, 1);
  });

  test('is requested again when the one it was requested with has expired before the answer', async (t) => {
    const { manager, server, until, passUntil, renewed, clock } = managed(t);
    await manager.start(signal);
    await until('the first', () => renewed.length === 1);
    const expires = manager.current()?.facts.notAfter ?? 0;
    server.state.verdict = 'ignore';
    // So late that the usual wait for an answer ends long after the certificate.
    clock.set(expires - 60_000);
    manager.look();
    await until('requested', () => server.requests.length === 2 && clock.sleepers() > 0);
    await passUntil('requested again', 10_000, () => server.requests.length >= 3);
    assert.ok(clock.now() < expires + 10 * 60_000, `after ${clock.now() - expires} ms`);
    server.state.verdict = 'approve';
    await passUntil('renewed', 60_000, () => renewed.length >= 2);
  });

  test('asks again after a failure where the clock is set back by years, and keeps what it has', async (t) => {
    const { manager, server, failures, until, passUntil, clock, renewed } = managed(t);
    server.state.verdict = new Error('no connection');
    await manager.start(signal);
    await until('away', () => failures.length === 1 && clock.sleepers() > 0);
    clock.set(Date.UTC(2020, 0, 1));
    server.state.verdict = 'approve';
    await passUntil('there', 2000, () => renewed.length >= 1);
    await until('it rests', () => manager.progress().kind === 'good' && clock.sleepers() > 0);
    // Years before it is valid: a certificate of the future is no reason to ask for another one.
    clock.set(Date.UTC(2010, 0, 1));
    await clock.advance(3_600_000);
    assert.equal(server.requests.length, 1);
    clock.set(Date.UTC(2020, 6, 1));
    await passUntil('renewed', 600_000, () => renewed.length >= 2);
  });

  test('is requested with another key where what was issued for the first one expired while the clock was wrong', async (t) => {
    const removed: string[] = [];
    let key = await makeKey();
    const lastingKey = {
      load: () => Promise.resolve(key),
      remove: async () => {
        removed.push(key);
        key = await makeKey();
      },
    };
    const { manager, server, failures, clock, passUntil, until, renewed } = managed(t, {
      lastingKey: () => lastingKey,
    });
    const signed = clock.now();
    server.state.days = 1;
    server.state.now = () => signed;
    clock.set(signed + 3 * DAY);
    await manager.start(signal);
    await until('issued, and of no use', () => failures.length === 1 && clock.sleepers() > 0);
    // It may be of use as soon as the clock is right: the next attempt asks for the same.
    assert.equal(removed.length, 0);
    await passUntil('given up', 1000, () => failures.length >= 2);
    assert.deepEqual([removed.length, server.requests.length], [1, 1]);
    clock.set(signed + 4 * DAY);
    server.state.now = clock.now;
    await passUntil('another one', 1000, () => renewed.length === 1);
    assert.equal(new Set(server.requests.map(({ name }) => name)).size, server.requests.length);
  });

  test('stays as it was where the new one can not be written', async (t) => {
    const { manager, store, until, passUntil, failures, clock, renewed, directory, server } = managed(t);
    await manager.start(signal);
    await until('the first', () => renewed.length === 1);
    const before = readFileSync(store.currentPath, 'latin1');
    // Somebody put a plain file in place of the link: it is not ours to overwrite.
    rmSync(store.currentPath);
    writeFileSync(store.currentPath, before);
    await until('it rests', () => clock.sleepers() > 0);
    for (let days = 0; days < 95 && failures.length === 0; days += 1) {
      await clock.advance(DAY);
      await new Promise((turn) => setTimeout(turn, 20));
    }
    assert.equal(readFileSync(store.currentPath, 'latin1'), before);
    assert.match(JSON.stringify(manager.progress()), /expected .* to be a symlink but it is a file/);
    assert.ok(readdirSync(directory).length > 0);
    // The certificate that was issued is written as soon as that is possible, without another request.
    const requests = server.requests.length;
    rmSync(store.currentPath);
    await passUntil('written', 2000, () => renewed.length >= 2);
    assert.equal(server.requests.length, requests);
    assert.equal(manager.current()?.facts.notAfter, (await store.current())?.facts.notAfter);
  });
});

/** Root may read and write everything: so the files are used as somebody else. */
async function asSomebodyElse<T>(use: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await use();
  process.seteuid?.(65_534);
  try {
    return await use();
  } finally {
    process.seteuid?.(0);
  }
}

describe('without permission', () => {
  test('to write to the directory, the old certificate stays, the error names the file, and the new one is written later', async (t) => {
    const errors: unknown[] = [];
    const logging = { ...log, error: (_: string, values?: LogValues) => void errors.push(values?.['err']) };
    const { manager, store, until, passUntil, failures, renewed, directory, server, setUpdate } = managed(t, {
      log: logging,
    });
    await manager.start(signal);
    await until('the first', () => renewed.length === 1);
    const before = readFileSync(store.currentPath, 'latin1');
    openWay(directory);
    chmodSync(directory, 0o555);
    setUpdate(asSomebodyElse);
    await passUntil('refused', DAY / 2, () => failures.length >= 1);
    assert.match(
      describeError(errors[0]),
      /^EACCES: permission denied, open '.*\/pki\/kubelet-client-[-\d]+\.pem\.new'$/,
    );
    assert.match(JSON.stringify(manager.progress()), /EACCES: permission denied, open/);
    assert.equal(readFileSync(store.currentPath, 'latin1'), before);
    assert.equal(manager.current()?.facts.notAfter, (await store.current())?.facts.notAfter);
    const requests = server.requests.length;
    chmodSync(directory, 0o777);
    await passUntil('written', 2000, () => renewed.length >= 2);
    assert.equal(server.requests.length, requests);
  });

  for (const [what, mode, file] of [
    ['the file', { directory: 0o755, pem: 0 }, "open '.*/kubelet-client-current.pem'"],
    ['the directory', { directory: 0, pem: 0o644 }, "lstat '.*/kubelet-client-current.pem'"],
  ] as const) {
    test(`to read ${what}, there is no certificate, and the error names it`, async (t) => {
      const directory = temporary(t);
      const errors: string[] = [];
      const logging = {
        ...log,
        error: (_: string, values?: LogValues) => void errors.push(describeError(values?.['err'])),
      };
      writeFileSync(join(directory, 'one.pem'), '', { mode: mode.pem });
      symlinkSync(join(directory, 'one.pem'), join(directory, 'kubelet-client-current.pem'));
      chmodSync(directory, mode.directory);
      const store = createCertificateStore({ clock: createManualClock(), log: logging }, directory, 'kubelet-client');
      const found = await asSomebodyElse(() => store.current());
      chmodSync(directory, 0o755);
      assert.equal(found, undefined);
      assert.match(errors[0] ?? '', new RegExp(`^EACCES: permission denied, ${file}$`));
    });
  }
});

describe('the store of certificates', () => {
  test('goes on where a kill left only the new link, and with the two files of old kubelets', async (t) => {
    const { manager, store, until, renewed, directory, clock } = managed(t);
    await manager.start(signal);
    await until('the first', () => renewed.length === 1);
    const dated = readlinkSync(store.currentPath);
    rmSync(store.currentPath);
    symlinkSync(dated, join(directory, 'kubelet-client-updated.pem'));
    assert.equal((await store.current())?.facts.commonName, 'system:node:n1');
    const [, certificate = '', key = ''] =
      /^([\s\S]*?)(-----BEGIN EC[\s\S]*)$/.exec(readFileSync(dated, 'latin1')) ?? [];
    const old = temporary(t);
    writeFileSync(join(old, 'kubelet-client.crt'), certificate);
    writeFileSync(join(old, 'kubelet-client.key'), key);
    const other = createCertificateStore({ clock, log }, old, 'kubelet-client');
    assert.equal((await other.current())?.facts.commonName, 'system:node:n1');
  });

  test('goes on with an RSA key that somebody else has made, and renews it with its own kind', async (t) => {
    const { manager, store, until, renewed, directory, clock, server } = managed(t);
    const file = (name: string) => join(directory, name);
    mkdirSync(directory, { recursive: true });
    const subject = ['-subj', '/O=system:nodes/CN=system:node:n1', '-days', '30'];
    const output = ['-keyout', file('rsa.key'), '-out', file('rsa.crt')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...output], {
      stdio: 'ignore',
    });
    clock.set(Date.now());
    writeFileSync(file('rsa.pem'), readFileSync(file('rsa.crt'), 'latin1') + readFileSync(file('rsa.key'), 'latin1'));
    symlinkSync(file('rsa.pem'), store.currentPath);
    await manager.start(signal);
    await until('it rests', () => manager.progress().kind === 'good' && clock.sleepers() > 0);
    assert.equal(server.requests.length, 0);
    assert.match(manager.current()?.key ?? '', /^-----BEGIN PRIVATE KEY-----/);
    clock.set(Date.now() + 29 * DAY);
    await clock.advance(600_000);
    await until('renewed', () => renewed.length === 1);
    assert.match(readFileSync(store.currentPath, 'latin1'), /BEGIN EC PRIVATE KEY/);
  });

  test('has nothing where the file is damaged, and says so', async (t) => {
    const directory = temporary(t);
    writeFileSync(join(directory, 'kubelet-client-current.pem'), 'half of a');
    const errors: string[] = [];
    const logging = { ...log, error: (message: string) => void errors.push(message) };
    const store = createCertificateStore({ clock: createManualClock(), log: logging }, directory, 'kubelet-client');
    assert.equal(await store.current(), undefined);
    assert.deepEqual(errors, ['Failed to read a certificate']);
  });
});

test('a request is read by OpenSSL with its subject and every name', async (t) => {
  const signer = createSigner(temporary(t));
  const addresses = [
    ['Hostname', 'n1'],
    ['InternalIP', '192.0.2.1'],
    ['InternalIP', '2001:db8::1'],
  ] as const;
  const template = servingTemplate(
    'n1',
    addresses.map(([type, address]) => ({ type, address })),
  );
  assert.ok(template);
  const text = signer.text(signRequest(template, await makeKey()));
  assert.match(text, /Subject: O ?= ?system:nodes, CN ?= ?system:node:n1/);
  assert.match(text, /DNS:n1, IP Address:192\.0\.2\.1, IP Address:2001:DB8:0:0:0:0:0:1/);
  assert.match(signer.text(signRequest(clientTemplate('n1'), await makeKey())), /Attributes:\s+\(none\)/);
});
