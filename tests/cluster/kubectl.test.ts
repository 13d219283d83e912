/** Real kubectls through a real API server to our kubelet: by WebSocket, as it speaks today, by SPDY, and the old one that Debian has. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Captured } from '../../tools/machine/capture.ts';
import type { Part } from '../../tools/machine/part.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { createSupplies } from '../lab/supplies.ts';
import { runs, until } from '../node/pod-support.ts';
import { podCluster } from './pods-support.ts';

const WITHOUT_WEBSOCKETS = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

/** One way in which people reach the cluster. */
interface Way {
  readonly name: string;
  readonly program: 'kubectl' | 'debian-kubectl';
  readonly env: object;
  /** The file that is copied. */
  readonly megabytes: number;
  readonly copy: readonly string[];
}

/** `make repeated` copies 200 MB. */
const MEGABYTES = process.env['LONG'] === '1' ? 200 : 50;
const NEW: Way = { name: 'websocket', program: 'kubectl', env: {}, megabytes: MEGABYTES, copy: ['--retries=0'] };
const WAYS: readonly Way[] = [
  NEW,
  { ...NEW, name: 'spdy', env: WITHOUT_WEBSOCKETS },
  // Sixteen versions older than the cluster: it can say it only in SPDY, and does not know how to try a copy again.
  { ...NEW, name: 'debian', program: 'debian-kubectl', megabytes: 50, copy: [] },
];

const supplies = createSupplies(process.env);

type Run = (args: readonly string[], input?: string) => Promise<Captured>;

const kubectlOf =
  (cluster: Cluster, way: Way): Run =>
  async (args, input) =>
    cluster.node.exec([...(await kubectlPath(cluster, way)), ...args], {
      env: { ...process.env, ...way.env },
      ...(input !== undefined && { input }),
    });

async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return hash.digest('hex');
}

async function commands(kubectl: Run): Promise<void> {
  const out = await kubectl(['exec', 'tools', '-c', 'main', '--', 'sh', '-c', 'echo out; echo err >&2; exit 42']);
  assert.deepEqual([out.code, out.stdout], [42, 'out\n']);
  assert.match(out.stderr, /^err\ncommand terminated with exit code 42\n$/);
  // The end of the input is passed on: `wc` would wait for ever without it.
  const counted = await kubectl(['exec', '-i', 'tools', '-c', 'main', '--', 'wc', '-c'], 'x'.repeat(100_000));
  assert.deepEqual([counted.code, counted.stdout.trim()], [0, '100000']);
  const nowhere = await kubectl(['exec', 'tools', '-c', 'main', '--', '/no/such/program']);
  assert.notEqual(nowhere.code, 0);
  assert.match(nowhere.stderr, /no such file or directory/);
  const missing = await kubectl(['exec', 'ended', '--', 'ls']);
  assert.notEqual(missing.code, 0);
}

async function terminal(cluster: Cluster, way: Way): Promise<void> {
  // `script` gives kubectl a terminal of its own.
  const enter = `${(await kubectlPath(cluster, way)).join(' ')} exec -it tools -c main -- sh -c 'until [ "$(stty size)" = "43 132" ]; do sleep 0.1; done; stty size; tty; exit 9'`;
  const seen = await cluster.node.exec(['script', '-qec', `stty rows 43 cols 132; ${enter}`, '/dev/null'], {
    env: { ...process.env, ...way.env },
  });
  assert.match(seen.stdout, /43 132\r\n\/dev\/pts\/\d+\r\n/);
  assert.equal(seen.code, 9, seen.stdout);
}

/** The words with which kubectl is called in this cluster. */
async function kubectlPath(cluster: Cluster, { program }: Way): Promise<readonly string[]> {
  const found = await supplies.ensure(program);
  return [found[program], `--kubeconfig=${cluster.adminKubeconfig}`];
}

async function copies(kubectl: Run, directory: string, { name, megabytes, copy }: Way): Promise<void> {
  const [there, back] = [join(directory, `large-${megabytes}`), join(directory, `${name}-back`)];
  const sum = await sumOf(there);
  const up = await kubectl(['cp', ...copy, there, `tools:/tmp/${name}`, '-c', 'main']);
  assert.equal(up.code, 0, up.stderr);
  const seen = await kubectl(['exec', 'tools', '-c', 'main', '--', 'sha256sum', `/tmp/${name}`]);
  assert.equal(seen.stdout.split(' ')[0], sum);
  const down = await kubectl(['cp', ...copy, `tools:/tmp/${name}`, back, '-c', 'main']);
  assert.equal(down.code, 0, down.stderr);
  assert.equal(await sumOf(back), sum);
  await kubectl(['exec', 'tools', '-c', 'main', '--', 'rm', `/tmp/${name}`]);
}

/** kubectl with an input that stays open until the answer is there, as a person's does: an attach ends with its input. */
async function typed(cluster: Cluster, way: Way, args: string, words: string): Promise<Captured> {
  const kubectl = (await kubectlPath(cluster, way)).join(' ');
  const answered = `tries=0; until grep -q ' ${words}' $said || [ $tries -gt 1200 ]; do tries=$((tries+1)); sleep 0.1; done`;
  const script = `said=$(mktemp); (echo ${words}; ${answered}) | ${kubectl} ${args} > $said; code=$?; cat $said; rm $said; exit $code`;
  return cluster.node.exec(['sh', '-c', script], { env: { ...process.env, ...way.env } });
}

async function attaches(cluster: Cluster, way: Way): Promise<void> {
  const talk = await typed(cluster, way, 'attach -i tools -c reader', way.name);
  assert.match(talk.stdout, new RegExp(`got ${way.name}\n`), talk.stderr);
}

async function startForward(cluster: Cluster, way: Way, port: number): Promise<Part> {
  const argv = [...(await kubectlPath(cluster, way)), 'port-forward', 'tools', `${port}:7`];
  const part = await cluster.node.start({ name: `forward-${port}`, argv, env: { ...process.env, ...way.env } });
  await part.waitForLog(/Forwarding from 127/, 120_000);
  return part;
}

async function forwards(cluster: Cluster, way: Way, port: number): Promise<void> {
  const forward = await startForward(cluster, way, port);
  const dial = () => cluster.node.gate.connect('127.0.0.1', port);
  const payload = Buffer.alloc(300_000, `payload ${port} `);
  const talk = async (socket: Socket): Promise<number> => {
    // Half closed: the echo comes although nothing more is sent.
    socket.end(payload);
    return (await buffer(socket)).compare(payload);
  };
  const sockets = await Promise.all(Array.from({ length: 50 }, dial));
  assert.deepEqual(new Set(await Promise.all(sockets.map(talk))), new Set([0]));
  // One that is broken off leaves the others alone.
  const [broken, kept] = [await dial(), await dial()];
  broken.write('x');
  broken.destroy();
  assert.equal(await talk(kept), 0);
  await forward.stop();
}

async function followsRotation(kubectl: Run, cluster: Cluster): Promise<void> {
  const wanted = 4000;
  const followed = await kubectl(['logs', '-f', 'writer', '--ignore-errors']);
  const numbers = followed.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line.split(' ')[1]));
  assert.deepEqual([followed.code, numbers.length], [0, wanted], followed.stderr);
  assert.ok(numbers.every((number, index) => number === index + 1));
  const files = await cluster.node.exec(['sh', '-c', 'ls /var/log/pods/default_writer_*/w']);
  assert.match(files.stdout, /0\.log\.\d{8}-\d{6}/, 'it was rotated while it was followed');
  assert.equal((await kubectl(['logs', 'writer', '--tail=1000'])).stdout.split('\n').length, 1001);
}

async function asksForLogs(kubectl: Run): Promise<void> {
  const logs = async (...args: string[]) => (await kubectl(['logs', ...args])).stdout;
  assert.equal(await logs('ended', '--tail=1'), 'two\n');
  assert.match(await logs('ended', '--timestamps', '--limit-bytes=40'), /^\d{4}-\S+\.\d{9}Z one\n/);
  assert.equal(await logs('ended', '--since=1h'), 'one\ntwo\n');
  const none = await kubectl(['logs', 'ended', '--previous']);
  assert.match(none.stderr, /previous terminated container "c" in pod "ended" not found/);
  const waiting = await kubectl(['logs', 'no-image']);
  assert.match(waiting.stderr, /container "c" in pod "no-image" is waiting to start: ErrImageNeverPull/);
  assert.match((await kubectl(['logs', 'tools', '-c', 'nope'])).stderr, /container nope is not valid for pod tools/);
}

async function debugs(cluster: Cluster): Promise<void> {
  const image = '--image=lab.local/busybox:1 --image-pull-policy=Never --profile=general';
  const seen = await typed(
    cluster,
    NEW,
    `debug -i tools ${image} -- sh -c 'while read line; do echo "heard $line"; done'`,
    'me',
  );
  assert.match(seen.stdout, /heard me/, seen.stderr);
}

async function nodeLogs(kubectl: Run, nodeName: string): Promise<void> {
  const raw = (path: string) => kubectl(['get', '--raw', `/api/v1/nodes/${nodeName}/proxy/${path}`]);
  assert.match((await raw('logs/')).stdout, /<a href="pods\/">/);
  assert.match((await raw('logs/?query=/nothing.log')).stderr, /no such file or directory/);
}

async function world(t: TestContext) {
  const { cluster, create, ready, become } = await podCluster(t, {
    config: {
      containerLogMaxSize: '20Ki',
      containerLogMaxFiles: 20,
      containerLogMonitorInterval: '3s',
      enableSystemLogQuery: true,
    },
  });
  const echo = { name: 'echo', image: 'lab.local/testserver:1', args: ['-tcp=:7'] };
  const reader = runs('reader', 'while read line; do echo "got $line"; done; sleep 1000', { stdin: true });
  await create('tools', { containers: [runs('main', 'exec sleep 100000'), reader, echo] });
  await create('ended', { restartPolicy: 'Never', containers: [runs('c', 'echo one; echo two')] });
  await create('no-image', { containers: [{ name: 'c', image: 'lab.local/none:1', imagePullPolicy: 'Never' }] });
  const slowly =
    'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line $i; [ $((i%100)) = 0 ] && sleep 0.2; done; sleep 4';
  await create('writer', { restartPolicy: 'Never', containers: [runs('w', slowly)] });
  await ready('tools');
  await become('ended', 'over', ({ status }) => status?.phase === 'Succeeded');
  await become(
    'no-image',
    'waiting',
    ({ status }) => status?.containerStatuses?.[0]?.state.waiting?.reason === 'ErrImageNeverPull',
  );
  return cluster;
}

test('kubectl logs, exec, cp, attach, port-forward and debug', async (t) => {
  const cluster = await world(t);
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const megabytes of new Set(WAYS.map((way) => way.megabytes)))
    await cluster.node.exec(['sh', '-c', `head -c ${megabytes}M /dev/urandom > ${directory}/large-${megabytes}`]);
  const kubectl = kubectlOf(cluster, NEW);
  const followers = WAYS.filter(({ env }) => env !== WITHOUT_WEBSOCKETS).map((way) => {
    const rotation = followsRotation(kubectlOf(cluster, way), cluster);
    rotation.catch(() => undefined);
    return { way, rotation };
  });
  let port = 17_000;
  for (const way of WAYS) {
    const { name, megabytes } = way;
    const run = kubectlOf(cluster, way);
    port += 1;
    await t.test(`${name}: exec`, () => commands(run));
    await t.test(`${name}: terminal`, () => terminal(cluster, way));
    await t.test(`${name}: attach`, () => attaches(cluster, way));
    await t.test(`${name}: port-forward`, () => forwards(cluster, way, port));
    await t.test(`${name}: cp of ${megabytes} MB both ways`, () => copies(run, directory, way));
  }
  for (const { way, rotation } of followers) await t.test(`${way.name}: logs -f across rotations`, () => rotation);
  await t.test('logs', () => asksForLogs(kubectl));
  await t.test('debug', () => debugs(cluster));
  await t.test('logs of the node', () => nodeLogs(kubectl, cluster.node.nodeName));
  await until('no one is left', async () => (await openStreams(cluster)) === 0 || undefined);
});

/** Connections to the kubelet's port that are still there. */
async function openStreams(cluster: Cluster): Promise<number> {
  const { stdout } = await cluster.node.exec(['sh', '-c', "cat /proc/net/tcp6 /proc/net/tcp | grep -c ':280A .* 01 '"]);
  // The API server keeps a few for its next requests.
  return Math.max(0, Number(stdout) - 6);
}
