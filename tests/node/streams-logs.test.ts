/** Logs through the kubelet's port on a real containerd: one stream over all files of a log, whatever is rotated meanwhile. */

import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { containerId } from '../../src/api/ids.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger } from '../../src/base/logger.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { createFileCalls } from '../../src/host/file-calls.ts';
import { createGuardedFiles } from '../../src/host/guarded-files.ts';
import { createLogRotation } from '../../src/runtime/logs/rotation.ts';
import type { RuntimeName } from '../lab/supplies.ts';
import { never, type PodNode, podNode, runs, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';
import { type KubeletClient, kubeletClient } from './streams-support.ts';

const clock = createSystemClock();
const MIB = 1024 * 1024;
/** Bytes of a line. The runtime works for each line: shorter ones come to fewer bytes a second than a busy log has. */
const LINE = 500;
/** As fast as the runtime takes them, once it is told to begin. */
const writer = (lines: number) =>
  `until [ -e /begin ]; do sleep 0.05; done; awk -v n=${lines} 'BEGIN { p = sprintf("%${LINE - 11}s", ""); gsub(/ /, "x", p); for (i = 1; i <= n; i++) printf "%010d%s\\n", i, p }'; sleep 1000`;

/** Rotates far more often than the kubelet would. Answers how to stop it. */
async function rotateFast(t: TestContext, place: PodNode, container: { id: string; path: string }, maxFiles: number) {
  const stopping = new AbortController();
  const rotation = createLogRotation(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      files: createGuardedFiles(createFileCalls()),
      reopen: place.cri.containers.reopenLog,
      containers: () => [{ id: containerId(container.id), state: 'running', logPath: container.path }],
    },
    { podLogs: dirname(container.path), maxSize: BigInt(MIB), maxFiles, workers: 1, intervalMs: 5 },
  );
  const stop = async () => {
    stopping.abort();
    await rotation.stop?.();
  };
  t.after(stop);
  await rotation.start(stopping.signal);
  return stop;
}

async function startWriter(t: TestContext, runtime: RuntimeName, lines: number) {
  const place = await podNode(t, { runtime, config: { containerLogMaxSize: '1Gi' } });
  await place.write('w', { containers: [runs('w', writer(lines))] });
  const { id, logPath } = await place.running('w', 'w');
  const kubelet = kubeletClient(place.node);
  const url = `/containerLogs/default/w-${place.node.nodeName}/w`;
  await until('the kubelet knows the container', async () =>
    (await kubelet.request(url)).status === 200 ? true : undefined,
  );
  // The runtime sees the same path below its own root.
  const path = join(place.node.podLogsDirectory, logPath.slice('/var/log/pods/'.length));
  const begin = async () => {
    const { exitCode } = await place.cri.streams.execSync(
      { containerId: id, command: ['touch', '/begin'], timeoutSeconds: 60 },
      never,
    );
    assert.equal(exitCode, 0);
  };
  return { place, kubelet, url, container: { id, path }, begin };
}

/** Numbers of the lines as they come, NaN for what is no whole line; `pause` after each piece makes a slow client. */
async function follow(
  kubelet: KubeletClient,
  url: string,
  last: number,
  pause: () => Promise<void> | void,
): Promise<readonly number[]> {
  const stop = new AbortController();
  const response = await kubelet.stream(`${url}?follow=true`, stop.signal);
  const numbers: number[] = [];
  let rest = '';
  for await (const piece of response) {
    const lines = (rest + (piece as Buffer).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) numbers.push(line.length === LINE - 1 ? Number(line.slice(0, 10)) : Number.NaN);
    if (numbers.at(-1) === last) break;
    await pause();
  }
  stop.abort();
  return numbers;
}

/** By the times of its first and last line. */
async function speedOf(kubelet: KubeletClient, url: string, lines: number): Promise<string> {
  const timeOf = async (query: string) => {
    const [time = ''] = (await kubelet.request(`${url}?timestamps=true&${query}`)).text().split(' ');
    return Temporal.Instant.from(time).epochMilliseconds;
  };
  const seconds = ((await timeOf('tailLines=1')) - (await timeOf('limitBytes=40'))) / 1000;
  return ((lines * LINE) / 1e6 / seconds).toFixed(1);
}

function assertAll(numbers: readonly number[], from: number, to: number, what: string): void {
  const wrong = numbers.findIndex((number, index) => number !== from + index);
  assert.equal(wrong, -1, `${what}: line ${wrong} is ${numbers[wrong]}, not ${from + wrong}`);
  assert.equal(numbers.at(-1), to, what);
}

/** The older release writes more slowly. */
const LINES: Readonly<Record<RuntimeName, number>> = { 'containerd-2.4': 200_000, 'containerd-1.6': 40_000 };

for (const runtime of RUNTIMES) {
  const lines = LINES[runtime];
  test(`${runtime}: numbered lines at full speed in files of 1 MiB reach fast and slow followers once each and in order`, async (t) => {
    const { place, kubelet, url, container, begin } = await startWriter(t, runtime, lines);
    const stopRotating = await rotateFast(t, place, container, 10_000);
    const slowly = () => clock.sleep(2, never);
    const followers = [() => undefined, () => undefined, slowly].map((pause) => follow(kubelet, url, lines, pause));
    await begin();
    const [fast = [], other = [], slow = []] = await Promise.all(followers);
    assertAll(fast, 1, lines, 'fast');
    assertAll(other, 1, lines, 'other');
    assertAll(slow, 1, lines, 'slow');
    await stopRotating();
    const files = await readdir(dirname(container.path));
    const packed = files.filter((name) => name.endsWith('.gz')).length;
    t.diagnostic(`${files.length} files, ${packed} compressed; written at ${await speedOf(kubelet, url, lines)} MB/s`);
    // How often depends on how much of the machine the rotation gets beside the writer.
    assert.ok(files.length > 1, 'it was never rotated');
    const tail = (await kubelet.request(`${url}?tailLines=20000`)).text().split('\n').slice(0, -1);
    assertAll(
      tail.map((line) => Number(line.slice(0, 10))),
      lines - 19_999,
      lines,
      'tail',
    );
    const whole = (await kubelet.request(url)).body;
    assert.equal(whole.length, lines * LINE);
  });
}

test('a slow follower of a log that is thrown away behind it misses lines, but never gets one twice or late; a tail is whole right after a rotation', async (t) => {
  const lines = 160_000;
  const { place, kubelet, url, container, begin } = await startWriter(t, 'containerd-2.4', lines);
  await rotateFast(t, place, container, 2);
  const writerIsDone = Promise.withResolvers<void>();
  const following = follow(kubelet, url, lines, () => writerIsDone.promise);
  let checked = 0;
  await begin();
  await until('a rotation', async () => ((await readdir(dirname(container.path))).length > 1 ? true : undefined));
  while (checked < 10) {
    const tail = (await kubelet.request(`${url}?tailLines=1000`)).text().split('\n').slice(0, -1);
    assert.equal(tail.length, 1000);
    const numbers = tail.map((line) => Number(line.slice(0, 10)));
    assertAll(numbers, numbers[0] ?? 0, (numbers[0] ?? 0) + 999, 'tail');
    checked += 1;
  }
  await until('the last line is written', async () =>
    Number((await kubelet.request(`${url}?tailLines=1`)).text().slice(0, 10)) === lines ? true : undefined,
  );
  writerIsDone.resolve();
  // Of a line whose other part was in a file that is gone, a part may be left: on a line of its own.
  const all = await following;
  const numbers = all.filter((number) => !Number.isNaN(number));
  assert.ok(all.length - numbers.length < 100, `${all.length - numbers.length} broken lines`);
  assert.ok(
    numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0)),
    'in order',
  );
  assert.equal(numbers.at(-1), lines);
  assert.ok(numbers.length < lines, 'nothing was thrown away');
  t.diagnostic(`${numbers.length} of ${lines} lines were still there`);
});

async function queries(kubelet: KubeletClient, url: string): Promise<void> {
  const text = async (query: string) => (await kubelet.request(`${url}?${query}`)).text();
  assert.equal(await text('tailLines=2'), 'err 3\nend\n');
  assert.equal(await text('limitBytes=7'), 'out 1\no');
  assert.match(
    await text('timestamps=true&tailLines=1'),
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(Z|[+-]\d\d:\d\d) end\n$/,
  );
  assert.equal(await text('stream=Stderr'), 'err 3\n');
  assert.equal(await text('stream=Stdout'), 'out 1\nout 2\nend\n');
  const [stamp = ''] = (await text('timestamps=true&tailLines=1')).split(' ');
  assert.equal(await text(`sinceTime=${encodeURIComponent(stamp)}`), 'end\n');
  assert.equal((await text('sinceSeconds=1000')).length, 'out 1\nout 2\nerr 3\nend\n'.length);
}

test('what is asked for of a log, and logs of containers that wait, ended and started again', async (t) => {
  const place = await podNode(t, {
    config: { featureGates: { PodLogsQuerySplitStreams: true }, enableSystemLogQuery: true },
  });
  const { node } = place;
  const kubelet = kubeletClient(node);
  const name = (pod: string) => `${pod}-${node.nodeName}`;
  const logs = (pod: string, container: string) => `/containerLogs/default/${name(pod)}/${container}`;
  const answered = (url: string, text: RegExp) =>
    until(`${url}: ${text}`, async () => {
      const answer = await kubelet.request(url);
      return text.test(answer.text()) ? answer : undefined;
    });
  await place.write('q', {
    restartPolicy: 'Never',
    containers: [runs('c', 'echo out 1; sleep 0.1; echo out 2; sleep 0.1; echo err 3 >&2; sleep 0.1; echo end')],
  });
  await place.write('again', { containers: [runs('c', 'echo life; sleep 2; exit 1')] });
  await place.write('no-image', { containers: [{ name: 'c', image: 'lab.local/none:1', imagePullPolicy: 'Never' }] });
  await place.write('held', {
    initContainers: [runs('first', 'sleep 1000')],
    containers: [runs('c', 'echo never')],
  });

  await t.test('queries', async () => {
    await answered(logs('q', 'c'), /end/);
    await queries(kubelet, logs('q', 'c'));
    // Whoever follows a container that has ended gets what there is, and the end.
    assert.equal((await kubelet.request(`${logs('q', 'c')}?follow=true`)).text(), 'out 1\nout 2\nerr 3\nend\n');
  });
  await t.test('waiting', async () => {
    const held = await answered(logs('held', 'c'), /waiting/);
    assert.deepEqual(
      [held.status, held.text()],
      [400, `container "c" in pod "${name('held')}" is waiting to start: PodInitializing`],
    );
    const none = await answered(logs('no-image', 'c'), /waiting/);
    assert.match(none.text(), /is waiting to start: ErrImageNeverPull$/);
  });
  await t.test('a follower ends with its container, and the one before is there', async () => {
    await answered(logs('again', 'c'), /life/);
    assert.equal((await kubelet.request(`${logs('again', 'c')}?follow=true`)).text(), 'life\n');
    const before = await answered(`${logs('again', 'c')}?previous=true`, /^life\n$/);
    assert.equal(before.status, 200);
  });
  await t.test('files of the node', async () => {
    const directory = dirname(node.podLogsDirectory);
    writeFileSync(join(directory, 'service.log'), 'one\ntwo\n');
    symlinkSync('/etc/shadow', join(directory, 'shadow'));
    const get = async (path: string) => {
      const { status, text } = await kubelet.request(path);
      return [status, text()];
    };
    assert.deepEqual(await get('/logs/service.log'), [200, 'one\ntwo\n']);
    const list = await kubelet.request('/logs/');
    assert.match(list.text(), /<a href="pods\/">pods\/<\/a>\n[\s\S]*<a href="service.log">service.log<\/a>/);
    assert.match(
      (await kubelet.request('/logs/containers/')).text(),
      new RegExp(`${name('q')}_default_c-[0-9a-f]+\\.log`),
    );
    for (const path of ['/logs/shadow', '/logs/nothing', '/logs/..%2f..%2fetc%2fshadow', '/logs/%2e%2e/etc/shadow']) {
      const [status, text] = await get(path);
      assert.ok([307, 400, 404].includes(Number(status)), `${path}: ${status}`);
      assert.ok(!String(text).includes('root:'), path);
    }
    assert.deepEqual(await get('/logs/?query=service'), [200, 'one\ntwo\n']);
    assert.deepEqual(await get('/logs/?query=/service.log'), [200, 'one\ntwo\n']);
    assert.deepEqual(await get('/logs/?query=nothing-of-this-name'), [
      200,
      '\nlog not found for nothing-of-this-name\n',
    ]);
    assert.deepEqual(await get('/logs/service.log?query=service'), [406, 'path not allowed in query mode\n']);
    assert.deepEqual(await get('/logs/?query=a%20b'), [
      406,
      'query: Invalid value: "a b": input contains unsupported characters\n',
    ]);
  });
  await t.test('checkpoints', async () => {
    const post = (path: string) => kubelet.request(`/checkpoint/default/${path}`, 'POST');
    assert.match((await post('nope/c')).text(), /pod does not exist/);
    assert.match((await post(`${name('held')}/nope`)).text(), /container nope does not exist/);
    const ended = await post(`${name('q')}/c`);
    assert.deepEqual(
      [ended.status, ended.text()],
      [500, `checkpointing of default/${name('q')}/c failed (container c not found)`],
    );
    const live = await post(`${name('held')}/first`);
    // Whether this runtime can depends on CRIU, which this machine lacks.
    assert.equal(live.status, 500, live.text());
    assert.match(live.text(), new RegExp(`^checkpointing of default/${name('held')}/first failed \\(`));
  });
});
