/** Access to a real API server: ways in, watches, and what is left of them when server, etcd and connections fail. */

import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { apiPath, apiPathBelow, type FieldSelector, fieldEquals } from '../../src/api/api-path.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { codeOf, describeError } from '../../src/base/errors.ts';
import { createSilentLogger, type Logger, type LogValues } from '../../src/base/logger.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { createKube, type Kube, type KubeDeps, type KubeObject } from '../../src/kube/kube.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';

const CONFIG_MAPS = apiPath`/api/v1/namespaces/default/configmaps`;
const WHO_AM_I = apiPath`/apis/authentication.k8s.io/v1/selfsubjectreviews`;
const { signal } = new AbortController();

test('the API server', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  await using cluster = await lab.cluster({ kubelet: 'none', nodeName: 'node-1', test: t });
  await t.test('knows who asks: by certificate, token, token file, program, impersonation', () => waysIn(cluster));
  await t.test('refuses in words that the program understands', () => refusals(cluster));
  await t.test('is watched on as many connections as it wants', () => manyWatches(cluster));
  await t.test('shows a new certificate', () => newCertificate(cluster));
  await t.test('hangs, and no one waits for ever', () => frozen(cluster));
  await t.test('is killed and started again, and nothing is lost', () => restarted(cluster));
  await t.test('has forgotten where a watch was, and the list is right after', () => compacted(cluster));
});

/** Longer than an answer takes on a busy machine. */
const HEARTBEAT_TIMEOUT_MS = 5_000;

interface Access extends AsyncDisposable {
  readonly kube: Kube;
  readonly dials: () => number;
  /** Whether connections can be made. */
  reachable: boolean;
  readonly log: readonly { readonly message: string; readonly err: unknown }[];
}

async function accessWith(cluster: Cluster, kubeconfig: string, more: Partial<KubeDeps> = {}): Promise<Access> {
  let dials = 0;
  const lines: { message: string; err: unknown }[] = [];
  const access = { reachable: true };
  const kube = createKube(
    {
      clock: createSystemClock(),
      supervisor: createTestSupervisor(createSystemClock()),
      log: createListLogger((message, values) => lines.push({ message, err: values?.['err'] })),
      random: Math.random,
      environment: { PATH: process.env['PATH'] },
      dial: (host, port) => {
        if (!access.reachable) return Promise.reject(new Error('the cable is pulled'));
        dials += 1;
        return cluster.node.gate.connect(host, port);
      },
      ...more,
    },
    {
      kubeconfig,
      limit: { perSecond: 500, burst: 500 },
      heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
      userAgent: 'kubelet/test',
    },
  );
  await kube.start(signal);
  return Object.assign(access, {
    kube,
    dials: () => dials,
    log: lines,
    [Symbol.asyncDispose]: async () => await kube.stop?.(),
  });
}

function createListLogger(add: (message: string, values?: LogValues) => void): Logger {
  const logger: Logger = { ...createSilentLogger(), info: add, warn: add, error: add, v: () => logger };
  return logger;
}

async function whoAmI(kube: Kube): Promise<string> {
  const answer = await kube.general.request<{ status: { userInfo: { username: string } } }>(
    { method: 'POST', path: WHO_AM_I, body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } },
    signal,
  );
  return answer.status.userInfo.username;
}

async function writeAccess(cluster: Cluster, name: string, user: object): Promise<string> {
  const path = join(cluster.pki.dir, `${name}.kubeconfig`);
  const ca = (await readFile(cluster.pki.ca.cert)).toString('base64');
  const config = {
    clusters: [{ name: 'lab', cluster: { server: cluster.server, 'certificate-authority-data': ca } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'here', context: { cluster: 'lab', user: 'me' } }],
    'current-context': 'here',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

async function waysIn(cluster: Cluster): Promise<void> {
  const { token, id } = cluster.bootstrapToken;
  const bootstrapper = `system:bootstrap:${id}`;
  const tokenFile = join(cluster.pki.dir, 'own.token');
  await writeFile(tokenFile, `${token}\n`);
  const command = join(cluster.pki.dir, 'login');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token } });
  await writeFile(command, `#!/bin/sh\ntest -n "$KUBERNETES_EXEC_INFO" && echo '${credential}'\n`);
  await chmod(command, 0o755);
  const { cert, key } = cluster.pki.admin;
  const admin = { 'client-certificate': cert, 'client-key': key };
  const ways: readonly [string, object, string][] = [
    [
      'node',
      { 'client-certificate': cluster.nodeCredentials.cert, 'client-key': cluster.nodeCredentials.key },
      'system:node:node-1',
    ],
    ['token', { token }, bootstrapper],
    ['token-file', { tokenFile: 'own.token' }, bootstrapper],
    ['exec', { exec: { apiVersion, command: './login', interactiveMode: 'Never' } }, bootstrapper],
    ['impersonated', { ...admin, as: 'jane', 'as-groups': ['system:masters'] }, 'jane'],
    ['nobody', { token: 'nobody.0000' }, 'unauthenticated'],
  ];
  for (const [name, user, want] of ways) {
    await using access = await accessWith(cluster, await writeAccess(cluster, name, user));
    assert.equal(await whoAmI(access.kube).catch(codeOf), want, name);
  }
}

async function refusals(cluster: Cluster): Promise<void> {
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  const { general } = access.kube;
  const create = (body: object) => general.request<KubeObject>({ method: 'POST', path: CONFIG_MAPS, body }, signal);
  const created = await create({ metadata: { name: 'one' }, data: { a: 'b' } });
  const path = apiPathBelow(CONFIG_MAPS, 'one');
  const stale = { metadata: { ...created.metadata, resourceVersion: '1' }, data: {} };
  const cases: readonly [() => Promise<unknown>, string][] = [
    [() => create({ metadata: { name: 'one' } }), 'exists'],
    [() => create({ metadata: { name: 'UPPER' } }), 'invalid'],
    [() => general.request({ method: 'GET', path: apiPathBelow(CONFIG_MAPS, 'none') }, signal), 'notFound'],
    [() => general.request({ method: 'GET', path: apiPathBelow(CONFIG_MAPS, 'one?watch=1#x') }, signal), 'notFound'],
    [() => general.request({ method: 'PUT', path, body: stale }, signal), 'conflict'],
    [() => general.request({ method: 'PATCH', path, patch: 'json', body: { no: 'list' } }, signal), 'invalid'],
    [
      () => general.request({ method: 'GET', path: CONFIG_MAPS, query: { limit: '1', continue: 'x' } }, signal),
      'invalid',
    ],
  ];
  for (const [answer, code] of cases) await assert.rejects(answer(), (error) => codeOf(error) === code, code);
  await using node = await accessWith(cluster, await cluster.kubeconfigFor('own-node', cluster.nodeCredentials));
  await assert.rejects(
    node.kube.general.request({ method: 'GET', path }, signal),
    (error) => codeOf(error) === 'denied',
  );
  await general.request({ method: 'DELETE', path }, signal);
}

/** What a watch has told, and whether it was told in order and once. */
class Mirror {
  readonly objects = new Map<string, KubeObject>();
  readonly changes: string[] = [];
  lists = 0;
  #newest = 0;

  readonly listener = {
    replaced: (objects: readonly KubeObject[]) => {
      this.lists += 1;
      this.objects.clear();
      for (const object of objects) this.objects.set(object.metadata.name, object);
    },
    changed: (object: KubeObject) => {
      this.#note('+', object);
      this.objects.set(object.metadata.name, object);
    },
    removed: (object: KubeObject) => {
      this.#note('-', object);
      assert.ok(this.objects.delete(object.metadata.name), `${object.metadata.name} was not known`);
    },
  };

  names(): string {
    return [...this.objects.keys()]
      .filter((name) => name !== 'kube-root-ca.crt')
      .toSorted()
      .join(' ');
  }

  #note(what: string, { metadata }: KubeObject): void {
    const version = Number(metadata.resourceVersion);
    assert.ok(version > this.#newest, `${metadata.name} ${version} came after ${this.#newest}`);
    this.#newest = version;
    this.changes.push(`${what}${metadata.name}`);
  }
}

async function until(isSo: () => boolean, what: () => string, timeoutMs = 120_000): Promise<void> {
  const clock = createSystemClock();
  const end = clock.mono() + timeoutMs;
  while (!isSo()) {
    if (clock.mono() > end) throw new Error(`not within ${timeoutMs} ms: ${what()}`);
    await clock.sleep(10, signal);
  }
}

async function mirrorOf(access: Access, fieldSelector?: FieldSelector): Promise<Mirror & AsyncDisposable> {
  const mirror = new Mirror();
  const asked = {
    path: CONFIG_MAPS,
    listener: mirror.listener,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  const watch = access.kube.watch(asked);
  await watch.start(signal);
  return Object.assign(mirror, { [Symbol.asyncDispose]: async () => await watch.stop?.() });
}

async function manyWatches(cluster: Cluster): Promise<void> {
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
  await using all = new AsyncDisposableStack();
  const mirrors: Mirror[] = [];
  for (const name of names) mirrors.push(all.use(await mirrorOf(access, fieldEquals('metadata.name', name))));
  await until(
    () => mirrors.every(({ lists }) => lists === 1),
    () => 'a list for every watch',
  );
  const body = (name: string) => ({ metadata: { name, labels: { many: 'yes' } } });
  const create = (name: string) =>
    access.kube.events.request({ method: 'POST', path: CONFIG_MAPS, body: body(name) }, signal);
  await Promise.all(names.map(create));
  await until(
    () => mirrors.every((mirror, index) => mirror.names() === names[index]),
    () => `${mirrors.filter((mirror, index) => mirror.names() !== names[index]).length} objects are missing`,
  );
  assert.ok(access.dials() <= 10, `${access.dials()} connections`);
  const query = { labelSelector: 'many=yes' };
  await access.kube.general.request({ method: 'DELETE', path: CONFIG_MAPS, query }, signal);
  await until(
    () => mirrors.every((mirror) => mirror.names() === ''),
    () => 'all are gone',
  );
  assert.ok(mirrors.every(({ changes }) => changes.length === 2));
}

async function newCertificate(cluster: Cluster): Promise<void> {
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  await using mirror = await mirrorOf(access);
  await until(
    () => mirror.lists === 1,
    () => 'the list',
  );
  await cluster.renewServingCertificate();
  access.kube.reconnect('to see the new certificate');
  await cluster.admin.create(CONFIG_MAPS, { metadata: { name: 'renewed' } });
  await until(
    () => mirror.names() === 'renewed',
    () => mirror.names(),
  );
  assert.equal(mirror.lists, 1);
  await cluster.admin.request(`${CONFIG_MAPS}/renewed`, { method: 'DELETE' });
  await until(
    () => mirror.names() === '',
    () => mirror.names(),
  );
}

async function frozen(cluster: Cluster): Promise<void> {
  const server = cluster.components['kube-apiserver'];
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  await using mirror = await mirrorOf(access);
  await access.kube.heartbeats.request({ method: 'GET', path: apiPath`/version` }, signal);
  await until(
    () => mirror.lists === 1,
    () => 'the list',
  );
  server.freeze();
  try {
    const beat = access.kube.heartbeats.request({ method: 'GET', path: apiPath`/version` }, signal);
    await assert.rejects(beat, (error) => codeOf(error) === 'deadline');
    access.kube.reconnect('heartbeats fail');
  } finally {
    server.resume();
  }
  await server.waitUntilHealthy();
  await cluster.admin.create(CONFIG_MAPS, { metadata: { name: 'thawed' } });
  await until(
    () => mirror.names() === 'thawed',
    () => mirror.names(),
  );
  await access.kube.heartbeats.request({ method: 'GET', path: apiPath`/version` }, signal);
  assert.equal(mirror.lists, 1, 'the watch went on where it was');
}

async function restarted(cluster: Cluster): Promise<void> {
  const server = cluster.components['kube-apiserver'];
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  await using mirror = await mirrorOf(access);
  await until(
    () => mirror.lists === 1,
    () => 'the list',
  );
  const backs: number[] = [];
  access.kube.onBack('test', () => backs.push(performance.now()));
  await server.kill();
  await assert.rejects(whoAmI(access.kube), (error) => codeOf(error) === 'unavailable');
  await until(
    () => access.log.some(({ message }) => message === 'The API server does not answer'),
    () => 'an outage',
  );
  await server.start();
  await cluster.admin.request(`${CONFIG_MAPS}/thawed`, { method: 'DELETE' });
  for (const name of ['a', 'b']) await cluster.admin.create(CONFIG_MAPS, { metadata: { name } });
  await until(
    () => mirror.names() === 'a b',
    () => mirror.names(),
  );
  assert.deepEqual(mirror.changes.slice(-3), ['-thawed', '+a', '+b']);
  assert.ok(backs.length >= 1, 'no one was told that it is back');
}

/** The server keeps recent changes in memory, so it must be a new one, and etcd must have forgotten the old ones. */
async function compacted(cluster: Cluster): Promise<void> {
  const server = cluster.components['kube-apiserver'];
  await using access = await accessWith(cluster, cluster.adminKubeconfig);
  await using mirror = await mirrorOf(access);
  await until(
    () => mirror.names() === 'a b',
    () => mirror.names(),
  );
  access.reachable = false;
  access.kube.reconnect('the cable is pulled');
  await cluster.admin.request(`${CONFIG_MAPS}/a`, { method: 'DELETE' });
  for (const name of ['c', 'd']) await cluster.admin.create(CONFIG_MAPS, { metadata: { name } });
  await compactEtcd(cluster);
  await server.kill();
  await server.start();
  assert.equal(mirror.names(), 'a b');
  access.reachable = true;
  await until(
    () => mirror.names() === 'b c d',
    () => mirror.names(),
  );
  assert.equal(mirror.lists, 2);
  const gone = access.log.filter(({ err }) => codeOf(err) === 'gone').map(({ err }) => describeError(err));
  assert.equal(gone.length, 1, gone.join('\n'));
  assert.match(gone[0] ?? '', /too old resource version|compacted/);
  await cluster.admin.create(CONFIG_MAPS, { metadata: { name: 'e' } });
  await until(
    () => mirror.names() === 'b c d e',
    () => mirror.names(),
  );
}

async function compactEtcd(cluster: Cluster): Promise<void> {
  const ask = async (path: string, body: object) => {
    const answer = await cluster.node.gate.request(`http://127.0.0.1:2379/v3/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200, answer.text());
    return JSON.parse(answer.text()) as { header: { revision: string } };
  };
  const { header } = await ask('maintenance/status', {});
  await ask('kv/compaction', { revision: header.revision, physical: true });
}
