/** Logs of containers on a real containerd: rotated while they are written, with no line lost, and taken away in time. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { containerId } from '../../src/api/ids.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { createSilentLogger } from '../../src/base/logger.ts';
import { createTestSupervisor } from '../../src/base/supervise-testing.ts';
import { createFileCalls } from '../../src/host/file-calls.ts';
import { createGuardedFiles } from '../../src/host/guarded-files.ts';
import { createLogRotation } from '../../src/runtime/logs/rotation.ts';
import { eventually, labNode, startPod } from './cri-support.ts';
import { never, podNode, runs, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';

const guarded = createGuardedFiles(createFileCalls());

/** The names of a log's files, oldest first. */
function filesOf(directory: string, log: string): readonly string[] {
  const age = (name: string) => (name === log ? '~' : name.replace(/\.gz$/, ''));
  const names = readdirSync(directory).filter((name) => name.startsWith(log) && !name.endsWith('.tmp'));
  return names.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
}

/** The texts of a log's files; undefined where the files changed while they were read (rotated, compressed, taken away). */
function textsOf(directory: string, log: string): readonly string[] | undefined {
  const newest = () => statSync(join(directory, log), { throwIfNoEntry: false })?.ino;
  const names = filesOf(directory, log);
  const inode = newest();
  const texts: string[] = [];
  for (const name of names) {
    const content = readUnlessGone(join(directory, name));
    if (content === undefined) return undefined;
    texts.push((name.endsWith('.gz') ? gunzipSync(content) : content).toString());
  }
  return filesOf(directory, log).join() === names.join() && newest() === inode ? texts : undefined;
}

function readUnlessGone(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** All lines of a log, oldest first, from all its files as they were at one moment. */
function linesOf(directory: string, log: string): readonly string[] {
  let texts = textsOf(directory, log);
  for (let tries = 0; texts === undefined && tries < 100; tries++) texts = textsOf(directory, log);
  assert.ok(texts !== undefined, `the files of ${log} changed at each of 100 readings`);
  // A line that was cut in two, as by a change of files, has a P on its first part.
  const written = texts
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/^\S+ stdout P /, '').replace(/^\S+ stdout F (.*)$/, '$1\n'));
  return written.join('').split('\n').slice(0, -1);
}

function assertWithoutGaps(lines: readonly string[], first: number): void {
  const wrong = lines.findIndex((line, index) => Number(line) !== first + index);
  assert.equal(wrong, -1, `line ${wrong} is ${lines[wrong]}, not ${first + wrong}`);
}

/** False also for a file that was renamed or compressed just now. */
async function endsWithDone(path: string): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => '')).endsWith(' done\n');
}

for (const runtime of RUNTIMES) {
  test(`${runtime}: many rotations under a fast writer lose no line`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const script =
      'i=0; while [ $i -lt 100 ]; do seq $((i*3000+1)) $((i*3000+3000)); sleep 0.03; i=$((i+1)); done; echo done; sleep 1000';
    const { container, config } = await startPod(cri, node, script);
    const directory = config.logDirectory ?? '';
    const stopping = new AbortController();
    const rotation = createLogRotation(
      {
        clock: createSystemClock(),
        supervisor: createTestSupervisor(createSystemClock()),
        log: createSilentLogger(),
        files: guarded,
        reopen: cri.containers.reopenLog,
        containers: () => [{ id: containerId(container), state: 'running', logPath: join(directory, 'c.log') }],
      },
      { podLogs: directory, maxSize: 200_000n, maxFiles: 1000, workers: 1, intervalMs: 20 },
    );
    t.after(async () => {
      stopping.abort();
      await rotation.stop?.();
    });
    await rotation.start(stopping.signal);
    await eventually('the last line is written', async () => {
      const plain = readdirSync(directory).filter((name) => !/\.(gz|tmp)$/.test(name));
      const done = await Promise.all(plain.map((name) => endsWithDone(join(directory, name))));
      return done.includes(true) ? true : undefined;
    });
    stopping.abort();
    await rotation.stop?.();
    const files = readdirSync(directory);
    t.diagnostic(`${files.length - 1} rotations, ${files.filter((name) => name.endsWith('.gz')).length} compressed`);
    // How often depends on how much of the machine the rotation gets beside the writer.
    assert.ok(files.length > 3, `only ${files.length} files: nothing was tested`);
    const lines = linesOf(directory, 'c.log');
    assert.equal(lines.at(-1), 'done');
    assertWithoutGaps(lines.slice(0, -1), 1);
    assert.equal(lines.length, 300_001);
  });
}

test('a runtime that does not answer keeps the log where it is', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  const { container, config } = await startPod(cri, node, 'seq 1 2000; sleep 1000');
  const directory = config.logDirectory ?? '';
  await eventually('the lines are written', () => (linesOf(directory, 'c.log').length === 2000 ? true : undefined));
  const stopping = new AbortController();
  let asked = 0;
  const rotation = createLogRotation(
    {
      clock: createSystemClock(),
      supervisor: createTestSupervisor(createSystemClock()),
      log: createSilentLogger(),
      files: guarded,
      reopen: () => {
        asked += 1;
        return Promise.reject(new Error('away'));
      },
      containers: () => [{ id: containerId(container), state: 'running', logPath: join(directory, 'c.log') }],
    },
    { podLogs: directory, maxSize: 1000n, maxFiles: 3, workers: 1, intervalMs: 10 },
  );
  await rotation.start(stopping.signal);
  await eventually('it was tried a few times', () => (asked > 3 ? true : undefined));
  stopping.abort();
  await rotation.stop?.();
  assert.deepEqual(readdirSync(directory), ['c.log']);
  assertWithoutGaps(linesOf(directory, 'c.log'), 1);
});

test('the kubelet rotates, compresses, keeps to the number of files, and takes the logs of removed containers away', async (t) => {
  const place = await podNode(t, {
    config: { containerLogMaxSize: '40Ki', containerLogMaxFiles: 3, containerLogMonitorInterval: '3s' },
  });
  const { node } = place;
  await place.write('writer', {
    containers: [runs('w', 'i=1; while true; do seq $i $((i+99)); i=$((i+100)); sleep 0.1; done')],
  });
  await place.write('crasher', { containers: [runs('c', 'echo round; exit 1')] });
  const { id, labels } = await place.running('writer', 'w');
  const directory = join(
    node.podLogsDirectory,
    `default_writer-${node.nodeName}_${labels['io.kubernetes.pod.uid']}`,
    'w',
  );
  await until('it was rotated three times', () => {
    const names = readdirSync(directory);
    assert.ok(names.filter((name) => !name.endsWith('.tmp')).length <= 4, names.join(' '));
    return Number(linesOf(directory, '0.log')[0]) > 1 && names.some((name) => name.endsWith('.gz')) ? true : undefined;
  });
  const lines = linesOf(directory, '0.log');
  assertWithoutGaps(lines, Number(lines[0]));
  const link = join(node.containerLogsDirectory, `writer-${node.nodeName}_default_w-${id}.log`);
  assert.equal(await readlink(link).then((target) => target.endsWith('/w/0.log')), true);
  const rotated = readdirSync(directory).filter((name) => name !== '0.log');
  for (const name of rotated)
    assert.equal(statSync(join(directory, name)).mode & 0o777, statSync(join(directory, '0.log')).mode & 0o777);

  await until('only the newest of the crasher has logs', async () => {
    const all = await place.containers('crasher');
    const pod = readdirSync(node.podLogsDirectory).find((name) => name.includes('_crasher-')) ?? '';
    const logs = readdirSync(join(node.podLogsDirectory, pod, 'c'));
    const attempts = all.map(({ metadata }) => `${metadata?.attempt}.log`);
    return attempts.length > 0 && !attempts.includes('0.log') && logs.join() === attempts.toSorted().join()
      ? true
      : undefined;
  });
  await until('each container of the crasher has its link, and no other is there', async () => {
    const ids = (await place.containers('crasher')).map(({ id }) => id).toSorted();
    const links = readdirSync(node.containerLogsDirectory).filter((name) => name.startsWith('crasher'));
    const linked = links.map((name) => name.replace(/^.*-([0-9a-f]+)\.log$/, '$1')).toSorted();
    return ids.join() === linked.join() ? true : undefined;
  });
});

test('a rotation that a dead kubelet left half-done is completed, with no line lost', async (t) => {
  const place = await podNode(t, { config: { containerLogMonitorInterval: '3s' } });
  const { node } = place;
  await place.write('writer', {
    containers: [runs('w', 'i=1; while true; do seq $i $((i+9)); i=$((i+10)); sleep 0.05; done')],
  });
  const { labels } = await place.running('writer', 'w');
  const directory = join(
    node.podLogsDirectory,
    `default_writer-${node.nodeName}_${labels['io.kubernetes.pod.uid']}`,
    'w',
  );
  await node.kubelet.kill();
  await rename(join(directory, '0.log'), join(directory, '0.log.20260101-000000'));
  await node.kubelet.start();
  await until('the runtime writes to a new file', () => (existsSync(join(directory, '0.log')) ? true : undefined));
  await until('there are more lines', () => (statSync(join(directory, '0.log')).size > 2000 ? true : undefined));
  assertWithoutGaps(linesOf(directory, '0.log'), 1);
});

test('logs and links of pods that went while no kubelet ran are taken away', async (t) => {
  const place = await podNode(t, {});
  const { node } = place;
  const file = await place.write('one', {
    containers: [runs('a', 'echo up; sleep 1000')],
    terminationGracePeriodSeconds: 1,
  });
  await place.running('one', 'a');
  await node.kubelet.kill();
  await rm(file);
  for (const { id } of await place.sandboxes('one')) {
    await place.cri.sandboxes.stop(id, never);
    await place.cri.sandboxes.remove(id, never);
  }
  assert.equal(readdirSync(node.podLogsDirectory).length, 1);
  await node.kubelet.start();
  await until('the directory is gone', () => (readdirSync(node.podLogsDirectory).length === 0 ? true : undefined));
  await until('the link is gone', () => (readdirSync(node.containerLogsDirectory).length === 0 ? true : undefined));
});
