/** exec, attach, port-forward and run on a real containerd, straight to the kubelet: WebSockets pass through as SPDY does. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RuntimeName } from '../lab/supplies.ts';
import { type PodNode, podNode, runs, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';
import { type KubeletClient, kubeletClient } from './streams-support.ts';

const ECHO = 'echo up; exec nc -ll -p 7070 -e cat';

interface Place {
  readonly place: PodNode;
  readonly kubelet: KubeletClient;
  /** `/default/NAME` of the pod with everything in it, and its UID. */
  readonly pod: string;
  readonly uid: string;
}

async function open(t: Parameters<typeof podNode>[0], runtime: RuntimeName): Promise<Place> {
  const place = await podNode(t, { runtime, env: { KUBELET_TS_HEAP_SNAPSHOTS: 'true' } });
  await place.write('p', {
    containers: [
      runs('main', ECHO),
      runs('reader', 'while read line; do echo "got $line"; done; echo over; sleep 1000', { stdin: true, tty: false }),
    ],
  });
  const { labels } = await place.running('p', 'main');
  await place.running('p', 'reader');
  const pod = `/default/p-${place.node.nodeName}`;
  const kubelet = kubeletClient(place.node);
  await until('the kubelet knows the pod', async () =>
    (await kubelet.request(`/containerLogs${pod}/main`)).text().includes('up') ? true : undefined,
  );
  return { place, kubelet, pod, uid: labels['io.kubernetes.pod.uid'] ?? '' };
}

const command = (...words: readonly string[]) => words.map((word) => `command=${encodeURIComponent(word)}`).join('&');

async function execs({ kubelet, pod, uid }: Place): Promise<void> {
  const script = command('sh', '-c', 'echo out; echo err >&2; exit 3');
  for (const path of [`/exec${pod}/main`, `/exec${pod}/${uid}/main`]) {
    const session = await kubelet.session(`${path}?${script}&output=1&error=1`);
    await session.closed;
    assert.deepEqual([session.received(1), session.received(2)], ['out\n', 'err\n']);
    const status = JSON.parse(session.received(3)) as { reason: string; details: { causes: { message: string }[] } };
    assert.deepEqual([status.reason, status.details.causes[0]?.message], ['NonZeroExitCode', '3']);
  }
  const talk = await kubelet.session(`/exec${pod}/main?${command('cat')}&input=1&output=1`);
  talk.send(0, 'hello ');
  talk.send(0, 'x'.repeat(40_000));
  await talk.until('everything came back', () => talk.received(1).length === 40_006);
  talk.close();
}

async function terminals({ kubelet, pod }: Place): Promise<void> {
  const shell = await kubelet.session(`/exec${pod}/main?${command('sh')}&input=1&output=1&error=1&tty=1`);
  shell.send(4, JSON.stringify({ Width: 132, Height: 43 }));
  await shell.until('a prompt', () => shell.received(1).includes('# '));
  // The size may reach the terminal after the prompt has come.
  await until('the size', async () => {
    shell.send(0, 'stty size\n');
    const lines = () => shell.received(1).match(/\r\n\d+ \d+/g)?.length ?? 0;
    const before = lines();
    await shell.until('an answer', () => lines() > before);
    return shell.received(1).includes('43 132') ? true : undefined;
  });
  shell.send(0, 'exit 7\n');
  await shell.closed;
  assert.match(shell.received(3), /"message":"7"/);
}

async function attaches({ kubelet, pod }: Place): Promise<void> {
  const session = await kubelet.session(`/attach${pod}/reader?input=1&output=1&error=1`);
  session.send(0, 'one\n');
  await session.until('an answer', () => session.received(1).includes('got one\n'));
  session.close();
  const again = await kubelet.session(`/attach${pod}/reader?input=1&output=1`);
  again.send(0, 'two\n');
  await again.until('an answer again', () => again.received(1).includes('got two\n'));
  again.close();
}

async function forwards({ kubelet, pod, uid }: Place): Promise<void> {
  for (const path of [`/portForward${pod}`, `/portForward${pod}/${uid}`]) {
    const session = await kubelet.session(`${path}?port=7070`);
    session.send(0, 'ping\n');
    // The first two bytes of each channel are the port.
    await session.until('an echo', () => session.received(0).endsWith('ping\n'));
    session.close();
  }
  const nobody = await kubelet.session(`/portForward${pod}?port=7071`);
  await nobody.until('the error', () => /refused/.test(nobody.received(1)));
  nobody.close();
}

async function runsCommands({ kubelet, pod, uid }: Place): Promise<void> {
  const done = await kubelet.request(`/run${pod}/${uid}/main?cmd=${encodeURIComponent('echo a b')}`, 'POST');
  assert.deepEqual([done.status, done.text(), done.headers['content-type']], [200, 'a b\n', 'application/json']);
  const failed = await kubelet.request(`/run${pod}/main?cmd=${encodeURIComponent('ls /nowhere')}`, 'POST');
  assert.equal(failed.status, 500);
  assert.equal(failed.text(), "command 'ls /nowhere' exited with 1: ls: /nowhere: No such file or directory\n");
}

async function refusals({ kubelet, pod, place }: Place): Promise<void> {
  const name = `p-${place.node.nodeName}`;
  const streams = 'output=1&command=ls';
  for (const [method, path, status, text] of [
    ['POST', `/exec${pod}/main?command=ls`, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['POST', `/exec/default/nope/main?${streams}`, 404, 'pod does not exist'],
    ['POST', `/exec/kube-system/${name}/main?${streams}`, 404, 'pod does not exist'],
    ['POST', `/exec${pod}/other-uid/main?${streams}`, 404, 'pod does not exist'],
    ['POST', `/exec${pod}/nope?${streams}`, 404, 'container not found ("nope")'],
    ['GET', `/exec${pod}/main?${streams}`, 400, 'Upgrade request required\n'],
    ['POST', `/attach${pod}/nope?output=1`, 404, `container nope not found in pod ${name}_default`],
    ['POST', '/portForward/default/nope', 404, 'pod does not exist'],
    ['POST', `/run${pod}/nope?cmd=ls`, 404, 'container not found ("nope")'],
    ['GET', `/containerLogs/default/nope/main`, 404, 'pod "nope" does not exist'],
    ['GET', `/containerLogs${pod}/nope`, 404, `container "nope" not found in pod "${name}"`],
    ['GET', `/containerLogs${pod}/main?tailLines=x`, 400, '{"message": "Unable to decode query."}'],
    ['GET', `/containerLogs${pod}/main?tailLines=-1`, 422, '{"message": "Invalid request."}'],
    [
      'GET',
      `/containerLogs${pod}/main?previous=true`,
      400,
      `previous terminated container "main" in pod "${name}" not found`,
    ],
  ] as const) {
    const answer = await kubelet.request(path, method);
    const said = answer.status === 404 ? (JSON.parse(answer.text()) as { message: string }).message : answer.text();
    assert.deepEqual([answer.status, said], [status, text], `${method} ${path}`);
  }
  await assert.rejects(kubelet.session(`/portForward${pod}`), /400.*: query parameter "port" is required/);
  await assert.rejects(kubelet.session(`/exec${pod}/nope?${streams}`), /404.*container not found/);
}

for (const runtime of RUNTIMES) {
  test(`${runtime}: commands, terminals, ports and what is refused`, async (t) => {
    const place = await open(t, runtime);
    await t.test('exec', () => execs(place));
    await t.test('terminals', () => terminals(place));
    await t.test('attach', () => attaches(place));
    await t.test('port-forward', () => forwards(place));
    await t.test('run', () => runsCommands(place));
    await t.test('refusals', () => refusals(place));
  });
}

/** Resident, MB. */
function memoryOf({ node }: PodNode): number {
  const status = readFileSync(`/proc/${node.kubelet.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

const descriptorsOf = ({ node }: PodNode): number => readdirSync(`/proc/${node.kubelet.pid}/fd`).length;

/** What the kubelet holds on to, in MB after a garbage collection, and files and sockets. */
async function holdings({ place, kubelet }: Place) {
  // A snapshot of the heap begins with taking away what no one uses.
  assert.equal((await kubelet.request('/debug/pprof/heap')).status, 200);
  const metrics = (await kubelet.request('/metrics')).text();
  const heap = Number(/^kubelet_ts_heap_used_bytes (\S+)/m.exec(metrics)?.[1]) / 1e6;
  return { heap: Math.round(heap), resident: Math.round(memoryOf(place)), descriptors: descriptorsOf(place) };
}

test('100 commands and 500 followers at once, and a second time takes no more memory than the first', async (t) => {
  const world = await open(t, 'containerd-2.4');
  const { kubelet, pod, place } = world;
  await place.write('w', { containers: [runs('w', 'i=0; while true; do i=$((i+1)); echo line $i; sleep 0.1; done')] });
  await place.running('w', 'w');
  const log = `/containerLogs/default/w-${place.node.nodeName}/w`;
  await until('lines', async () => ((await kubelet.request(log)).status === 200 ? true : undefined));
  const round = async () => {
    const sessions = await Promise.all(
      Array.from({ length: 100 }, () => kubelet.session(`/exec${pod}/main?${command('cat')}&input=1&output=1`)),
    );
    for (const [index, session] of sessions.entries()) session.send(0, `session ${index}\n`);
    await Promise.all(
      sessions.map((session, index) =>
        session.until('its own echo', () => session.received(1) === `session ${index}\n`),
      ),
    );
    for (const session of sessions) session.close();
  };
  const follow = async () => {
    const stop = new AbortController();
    const one = async () => {
      const response = await kubelet.stream(`${log}?follow=true&tailLines=1`, stop.signal);
      const seen = { text: '' };
      response.on('error', () => undefined);
      response.on('data', (part: Buffer) => {
        seen.text += part.toString();
      });
      return seen;
    };
    const counts: { readonly text: string }[] = [];
    // Not all in one moment: connections that have not shown yet who they are have to give way to each other.
    while (counts.length < 500) counts.push(...(await Promise.all(Array.from({ length: 50 }, one))));
    await until('every follower has 20 lines', () =>
      counts.every(({ text }) => text.split('\n').length > 20) ? true : undefined,
    );
    const during = memoryOf(place);
    for (const { text } of counts) {
      const numbers = text
        .split('\n')
        .slice(0, -1)
        .map((line) => Number(line.slice(5)));
      assert.ok(
        numbers.every((number, index) => number === (numbers[0] ?? 0) + index),
        text,
      );
    }
    stop.abort();
    return during;
  };
  const idle = memoryOf(place);
  await round();
  const during = await follow();
  t.diagnostic(`resident ${[idle, during].map((value) => value.toFixed(0)).join(', ')} MB before and during`);
  const before = await holdings(world);
  await round();
  await follow();
  // Looked at from outside: each snapshot of the heap takes memory of its own.
  await until('all descriptors are closed', () => (descriptorsOf(place) <= before.descriptors + 5 ? true : undefined));
  const after = await holdings(world);
  t.diagnostic(`after the first and the second time ${JSON.stringify([before, after])}`);
  assert.ok(after.heap < before.heap * 1.2 + 3, `the heap has grown from ${before.heap} to ${after.heap} MB`);
  assert.ok(after.resident < before.resident * 1.5 + 50, `resident ${before.resident} MB became ${after.resident} MB`);
});
