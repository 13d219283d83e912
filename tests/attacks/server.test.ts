/** Hostile callers of the kubelet's ports, on a node without a cluster and a real runtime. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import tls from 'node:tls';
import { type ProxiedNode, proxiedNode } from '../node/better-support.ts';
import { never, runs, until } from '../node/pod-support.ts';
import { type KubeletClient, kubeletClient, tokenProtocol } from '../node/streams-support.ts';

const EXEC = '/runtime.v1.RuntimeService/Exec';
/** As long as the number of a port that the system chooses, so that it can take its place in an answer. */
const RECORDER_PORT = 20_999;

/** Passes connections on and writes down what the client sends. */
const RECORDER = `
const [port, target, file] = process.argv.slice(1);
const net = require('node:net');
net.createServer((client) => {
  const runtime = net.connect(Number(target), '127.0.0.1');
  client.on('data', (bytes) => require('node:fs').appendFileSync(file, bytes));
  for (const socket of [client, runtime]) socket.on('error', () => socket.destroy());
  client.pipe(runtime);
  runtime.pipe(client);
}).listen(Number(port), '127.0.0.1', () => console.log('recorder is ready'));
`;

interface Place {
  readonly place: ProxiedNode;
  readonly kubelet: KubeletClient;
  readonly token: string;
}

async function tokensStayHere({ place, kubelet, token }: Place): Promise<void> {
  const { id } = await place.running('web', 'c');
  const request = { containerId: id, cmd: ['true'], stdin: false, stdout: true, stderr: false, tty: false };
  const address = new URL(await place.cri.streams.exec(request, never));
  assert.equal(address.port.length, 5, address.href);
  const record = join(place.node.world.directory, 'recorded');
  const argv = [process.execPath, '-e', RECORDER, String(RECORDER_PORT), address.port, record];
  const recorder = await place.node.world.start({ name: 'recorder', argv });
  await recorder.waitForLog(/recorder is ready/, 120_000);
  place.proxy.changeAnswers((path, bytes) =>
    path === EXEC
      ? Buffer.from(bytes.toString('latin1').replace(`:${address.port}/`, `:${RECORDER_PORT}/`), 'latin1')
      : bytes,
  );
  const path = `/exec/default/web-${place.node.nodeName}/c?command=echo&command=hello&output=1`;
  for (const asBrowser of [true, false]) {
    const session = await kubelet.session(path, asBrowser);
    await session.until('the command has written', () => session.received(1) === 'hello\n');
    await session.closed;
  }
  assert.ok(existsSync(record), 'the recorder was passed by');
  const bytes = readFileSync(record, 'latin1');
  assert.match(bytes, /^GET \/exec\/.*^Sec-WebSocket-Protocol: v4\.channel\.k8s\.io\r$/ms);
  assert.equal(bytes.match(/^GET \/exec\//gm)?.length, 2);
  assert.doesNotMatch(bytes, /bearer|authorization|cookie/i);
  assert.ok(!bytes.includes(token) && !bytes.includes(tokenProtocol(token).slice(-40)));
  place.proxy.changeAnswers((_path, same) => same);
}

async function secretsStayHere({ kubelet, place }: Place): Promise<void> {
  const heap = await kubelet.request('/debug/pprof/heap');
  assert.deepEqual([heap.status, heap.text().slice(0, 28)], [405, 'heap snapshots are disabled:']);
  await place.node.kubelet.stop();
  await place.node.kubelet.start({ env: { KUBELET_TS_HEAP_SNAPSHOTS: 'true' } });
  const allowed = await kubelet.request('/debug/pprof/heap', 'POST');
  assert.equal(allowed.status, 200);
  assert.match(allowed.text().slice(0, 200), /^\{"snapshot"/);
  await until('the audit has it', () => {
    const log = readFileSync(place.node.kubelet.logFile, 'utf8');
    return /"Audit" stage="ResponseComplete" action="heap" user="node-administrator" method="POST" verb="create"/.test(
      log,
    )
      ? true
      : undefined;
  });
}

const insecure = { rejectUnauthorized: false };

async function idle(place: ProxiedNode, port: number, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = await place.node.gate.connect('127.0.0.1', port);
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  return sockets;
}

/** Before the limits, each of these held its place for ten seconds and more. */
async function floodsLeaveRoom({ place, kubelet }: Place): Promise<void> {
  const floods = await Promise.all([idle(place, 10250, 900), idle(place, 10255, 200), idle(place, 10248, 300)]);
  assert.equal((await kubelet.request('/pods')).status, 200);
  assert.equal((await place.node.gate.request('http://127.0.0.1:10255/pods')).status, 200);
  assert.equal((await place.node.kubelet.healthz()).status, 200);
  const [secure = [], readOnly = [], health = []] = floods;
  const gone = (sockets: readonly Socket[]) => sockets.filter((socket) => socket.closed || socket.readableEnded).length;
  for (const socket of floods.flat()) socket.resume();
  await until('those that said nothing gave way', () =>
    gone(secure) >= 80 && gone(readOnly) >= 70 && gone(health) >= 40 ? true : undefined,
  );
  const metrics = (await kubelet.request('/metrics')).text();
  assert.match(metrics, /connections_dropped_total\{reason="address",server_type="readwrite"\} \d+/);
  for (const socket of floods.flat()) socket.destroy();
}

/** What comes back for bytes as they are, until the kubelet closes the connection. */
async function raw(place: ProxiedNode, bytes: string): Promise<string> {
  const socket = tls.connect({ socket: await place.node.gate.connect('127.0.0.1', 10250), ...insecure });
  // Who sends more than the kubelet reads sees the connection break, after the answer.
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(bytes);
  await closed;
  return text;
}

async function strangersWriteLittle({ place }: Place): Promise<void> {
  const size = () => statSync(place.node.kubelet.logFile).size;
  const before = size();
  for (const [target, status] of [
    [`/exec/a/b/c?command=${'x'.repeat(50_000)}`, 401],
    [`/${'x'.repeat(50_000)}`, 414],
    [`/pods?token=s3cret&${'x'.repeat(20_000)}`, 401],
  ] as const) {
    for (let at = 0; at < 5; at += 1) {
      const answer = await raw(place, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} .*^Connection: close\\r$`, 'ms'));
    }
  }
  // Cut off before the end of its head: whether the answer still arrives depends on what was on its way.
  const cut = await raw(place, `GET /exec/a/b/c?command=${'x'.repeat(1 << 20)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  assert.match(cut, /^$|^HTTP\/1\.1 431 /);
  assert.ok(size() - before < 100_000, `${size() - before} bytes of log`);
  assert.doesNotMatch(readFileSync(place.node.kubelet.logFile, 'utf8'), /s3cret/);
}

async function detoursLeadNowhere({ place, token }: Place): Promise<void> {
  const get = async (target: string, more = '') => {
    const text = await raw(place, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`);
    return text.slice(9, 12);
  };
  const login = `Authorization: Bearer ${token}\r\n`;
  for (const [target, asStranger, asAdmin] of [
    ['//pods', '307', '307'],
    ['/healthz/../pods', '307', '307'],
    ['/healthz/%2e%2e/pods', '307', '307'],
    ['/healthz/%2e%2e%2fpods', '307', '307'],
    ['/healthz%2f..%2fpods', '307', '307'],
    ['/%70ods', '401', '200'],
    ['/logs/%252e%252e/shadow', '401', '404'],
    ['/pods%00', '400', '400'],
  ] as const) {
    assert.deepEqual([await get(target), await get(target, login)], [asStranger, asAdmin], target);
  }
  assert.equal(await get('/pods', `${login}Origin: https://evil.example\r\n`), '403');
  const rebound = await place.node.gate.request('http://127.0.0.1:10255/pods', { headers: { host: 'evil.example' } });
  assert.equal(rebound.status, 403);
}

test('strangers and readers get no secrets, no room and no lines of the log that others need', async (t) => {
  // Configured by no one, as on a node that was just installed.
  const place = await proxiedNode(t, { config: { authentication: { webhook: { enabled: false } } } });
  await place.write('web', { containers: [runs('c', 'sleep 100000')] }, { namespace: 'default' });
  await place.running('web', 'c');
  const token = readFileSync(join(place.node.kubeletDirectory, 'server-token'), 'utf8').trim();
  const world = { place, kubelet: kubeletClient(place.node), token };
  await t.test('the runtime sees no token', () => tokensStayHere(world));
  await t.test('floods of connections leave room for others', () => floodsLeaveRoom(world));
  await t.test('what strangers send makes few and short lines', () => strangersWriteLittle(world));
  await t.test('detours in paths, names and origins lead nowhere', () => detoursLeadNowhere(world));
  await t.test('a heap snapshot is off by default, and audited where it is on', () => secretsStayHere(world));
});
