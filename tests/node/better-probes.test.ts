/** Probes when the kubelet itself does not get to run, and many of them at once. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createTail, isReady, parseStatuses } from '../soak/status-log.ts';
import { idles, podNames } from './better-support.ts';
import { type PodNode, podNode, until } from './pod-support.ts';

/** Longer than the probes wait for an answer. */
const STALL_MS = 6000;

/** Every failure counts at once. The answers come in a part of a second: a busy machine has four. */
const IMPATIENT = { periodSeconds: 1, timeoutSeconds: 4, failureThreshold: 1 };
const HANDLERS = [
  { exec: { command: ['sleep', '0.2'] } },
  { httpGet: { path: '/readyz', port: 8080 } },
  { tcpSocket: { port: 8080 } },
];

async function probedPods(place: PodNode, count: number): Promise<ReadonlyMap<string, string>> {
  const names = podNames(count);
  for (const [index, name] of names.entries()) {
    const handler = HANDLERS[index % HANDLERS.length];
    const container = index % HANDLERS.length === 0 ? idles('c') : { name: 'c', image: 'lab.local/testserver:1' };
    const probe = { ...handler, ...IMPATIENT };
    await place.write(name, {
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          ...container,
          readinessProbe: probe,
          livenessProbe: probe,
          startupProbe: { ...probe, timeoutSeconds: 10, failureThreshold: 60 },
        },
      ],
    });
  }
  const tail = createTail(place.node.kubelet.logFile);
  const ready = new Map<string, boolean>();
  await until('all are ready', async () => {
    for (const { pod, status } of parseStatuses(await tail.fresh())) ready.set(pod, isReady(status));
    return names.every((name) => ready.get(name)) ? true : undefined;
  });
  return new Map(await Promise.all(names.map(async (name) => [name, (await place.running(name, 'c')).id] as const)));
}

/** Stalls the kubelet again and again: no one may get unready, no one may be ended. */
async function nobodySuffers(t: TestContext, place: PodNode, stall: (place: PodNode) => Promise<void>): Promise<void> {
  const pods = await probedPods(place, 6);
  const tail = createTail(place.node.kubelet.logFile);
  await tail.fresh();
  for (let round = 0; round < 2; round += 1) {
    await delay(700 + round * 350);
    await stall(place);
  }
  await delay(2500);
  const log = await tail.fresh();
  const unready = parseStatuses(log).filter(({ pod, status }) => pods.has(pod) && !isReady(status));
  assert.deepEqual(
    unready.map(({ pod }) => pod),
    [],
  );
  assert.doesNotMatch(log, /reason="(Unhealthy|Killing)"/);
  for (const [name, id] of pods) assert.equal((await place.running(name, 'c')).id, id, name);
  t.diagnostic(`${(log.match(/\n/g) ?? []).length} lines of log during the stalls`);
}

test('a kubelet that is stopped for six seconds (SIGSTOP) fails no probe', async (t) => {
  await nobodySuffers(t, await podNode(t), async ({ node }) => {
    node.kubelet.signal('SIGSTOP');
    await delay(STALL_MS);
    node.kubelet.signal('SIGCONT');
  });
});

/** Talks to the debugger of a process in the world, and has it do nothing but count for a while. */
const STALL_PROGRAM = `
const [target] = await (await fetch('http://127.0.0.1:9229/json')).json();
const socket = new WebSocket(target.webSocketDebuggerUrl);
await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
const expression = 'const end = Date.now() + ${STALL_MS}; while (Date.now() < end);';
const answered = new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(data); });
socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: '{' + expression + '}' } }));
console.log(await answered);
socket.close();
`;

test('an event loop that is busy for six seconds fails no probe', async (t) => {
  const place = await podNode(t, { kubelet: 'none' });
  await place.node.kubelet.start({ env: { NODE_OPTIONS: '--inspect=127.0.0.1:9229' } });
  await nobodySuffers(t, place, async ({ node }) => {
    const began = performance.now();
    const { code, stdout, stderr } = await node.exec([
      process.execPath,
      '--input-type=module',
      '--eval',
      STALL_PROGRAM,
    ]);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /exceptionDetails|"error"/);
    assert.ok(performance.now() - began >= STALL_MS, 'it was busy for all that time');
  });
});

/** Writes down who asked when. */
const LISTENER_PROGRAM = `
require('node:http').createServer((request, response) => {
  console.log(Date.now() + ' ' + request.url);
  response.end('fine');
}).listen(9998, '127.0.0.1', () => console.log('listening'));
`;
const MANY = 30;
const PERIOD_SECONDS = 2;
const BINS = 10;
const PERIODS_WATCHED = 4;

test('the probes of many pods come evenly spread, also right after a restart of the kubelet', async (t) => {
  const place = await podNode(t);
  const listener = await place.node.start({
    name: 'listener',
    argv: [process.execPath, '--eval', LISTENER_PROGRAM],
  });
  await listener.waitForLog(/listening/, 120_000);
  const names = podNames(MANY);
  for (const name of names) {
    const httpGet = { host: '127.0.0.1', port: 9998, path: `/${name}` };
    const readinessProbe = { httpGet, periodSeconds: PERIOD_SECONDS, timeoutSeconds: 1 };
    await place.write(name, { terminationGracePeriodSeconds: 1, containers: [idles('c', { readinessProbe })] });
  }
  const asked = async () => {
    const lines = (await readFile(listener.logFile, 'utf8')).matchAll(/^(\d+) \/(\S+)$/gm);
    return Array.from(lines, ([, at, pod]) => ({ at: Number(at), pod: pod ?? '' }));
  };
  await until('every pod was asked', async () => {
    const pods = new Set((await asked()).map(({ pod }) => pod));
    return names.every((name) => pods.has(name)) ? true : undefined;
  });

  await place.node.kubelet.kill();
  // What the dead one sent last may be read and written down after its end.
  let before = (await asked()).length;
  await until('no one asks any more', async () => {
    const last = before;
    await delay(1000);
    before = (await asked()).length;
    return before === last ? true : undefined;
  });
  await place.node.kubelet.start();
  const first = await until('the first one asks', async () => (await asked())[before]);
  await delay(PERIODS_WATCHED * PERIOD_SECONDS * 1000);
  const periodMs = PERIOD_SECONDS * 1000;
  const bins = Array.from({ length: BINS }, () => 0);
  const counted = (await asked()).slice(before).filter(({ at }) => at < first.at + PERIODS_WATCHED * periodMs);
  for (const { at } of counted) {
    const bin = Math.floor((((at - first.at) % periodMs) / periodMs) * BINS);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const even = counted.length / BINS;
  t.diagnostic(`${counted.length} probes in ${PERIODS_WATCHED} periods, by tenths of a period: ${bins.join(' ')}`);
  assert.ok(counted.length >= MANY * (PERIODS_WATCHED - 1), `${counted.length} probes: some pods were not asked`);
  // All at once would be ten times the even share.
  assert.ok(Math.max(...bins) <= 3 * even, `${bins} where ${even} would be even`);
});
