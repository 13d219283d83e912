/** The life of static pods under our kubelet, on a real containerd. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { readPodLog, untilLogged } from '../lab/static-pods.ts';
import { never, podNode, runs, stays, until } from './pod-support.ts';
import { BOTH_RUNTIMES, RUNTIMES } from './runtimes.ts';

const mode = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

for (const runtime of BOTH_RUNTIMES) {
  test(`${runtime}: a pod runs in its place and goes without a trace`, async (t) => {
    const { node, running, gone, write, untilEvent } = await podNode(t, { runtime });
    const path = await write('one', {
      containers: [stays('a', { volumeMounts: [{ name: 'e', mountPath: '/e' }] })],
      volumes: [{ name: 'e', emptyDir: {} }],
      hostAliases: [{ ip: '192.0.2.77', hostnames: ['elsewhere'] }],
    });
    const status = await running('one', 'a');
    await untilLogged(node, 'one', 'a', 'a is up');
    const uid = status.labels['io.kubernetes.pod.uid'] ?? '';
    const directory = join(node.kubeletDirectory, 'pods', uid);
    assert.deepEqual(
      await Promise.all(
        ['', 'containers', 'containers/a', 'volumes', 'plugins', 'etc-hosts'].map((name) =>
          mode(join(directory, name)),
        ),
      ),
      ['750', '750', '750', '750', '750', '644'],
    );
    assert.equal(await mode(join(directory, 'volumes/kubernetes.io~empty-dir/e')), '777');
    const hosts = await readFile(join(directory, 'etc-hosts'), 'utf8');
    assert.match(hosts, /^# Kubernetes-managed hosts file\.\n/);
    assert.match(hosts, /\tone-node\n/);
    assert.match(hosts, /192\.0\.2\.77\telsewhere/);
    const [termination] = await readdir(join(directory, 'containers/a'));
    assert.equal(await mode(join(directory, 'containers/a', termination ?? '')), '666');
    const link = `one-node_default_a-${status.id}.log`;
    await until('the link is there', async () =>
      (await readdir(node.containerLogsDirectory)).includes(link) ? true : undefined,
    );
    for (const event of [/^Created: "Container created"/, /^Started: "Container started"/])
      await untilEvent('one', event);

    await rm(path);
    await gone('one');
    await untilEvent('one', /^Killing: "Stopping container a"/);
    await until('the directories are gone', () => (existsSync(directory) ? undefined : true));
    await until('the logs are gone', async () =>
      (await readdir(node.podLogsDirectory)).length === 0 ? true : undefined,
    );
    await until('the link is gone', async () =>
      (await readdir(node.containerLogsDirectory)).length === 0 ? true : undefined,
    );
  });
}

for (const runtime of RUNTIMES) {
  test(`${runtime}: an ended container is started again soon, then waits longer and longer`, async (t) => {
    const { write, appeared, containers, cri, events, untilEvent } = await podNode(t, { runtime });
    await write('crash', { containers: [runs('c', 'echo round; sleep 0.3; exit 3')] });
    await appeared('crash', 'c', 0);
    const second = await appeared('crash', 'c', 1);
    await untilEvent('crash', /^BackOff: "Back-off restarting failed container c in pod crash-node_default\(/);
    const dead = await until('the second one has ended', async () => {
      const all = await containers('crash', 'c');
      return all.every(({ state }) => state === ContainerState.CONTAINER_EXITED) ? all : undefined;
    });
    assert.deepEqual(dead.map(({ metadata }) => metadata?.attempt).slice(0, 1), [1]);
    const reasons = (await events('crash')).map((event) => event.split(':')[0]);
    const started = reasons.slice(0, reasons.indexOf('BackOff')).filter((reason) => reason === 'Started');
    assert.equal(started.length, 2, 'the second start waits for no back-off');
    // While the third is waited for: only one dead container is kept.
    const { finishedAt = 0n } = (await cri.containers.status(second.id, {}, never))?.status ?? {};
    const third = await appeared('crash', 'c', 2);
    const wait = Number(third.createdAt - finishedAt) / 1e9;
    assert.ok(finishedAt > 0n && wait >= 10, `third start ${wait} s after the second end`);
    await until('only one dead container is kept', async () => {
      const all = await containers('crash', 'c');
      const exited = all.filter(({ state }) => state === ContainerState.CONTAINER_EXITED);
      return exited.length === 1 ? true : undefined;
    });
  });

  test(`${runtime}: init containers in order, a sidecar before the rest and after it`, async (t) => {
    const { node, write, running, gone } = await podNode(t, { runtime });
    const path = await write('order', {
      terminationGracePeriodSeconds: 5,
      initContainers: [
        runs('i1', 'echo i1; touch /e/i1'),
        stays('side', {
          restartPolicy: 'Always',
          command: [
            'sh',
            '-c',
            `touch /e/side; trap 'touch /h/side-term; exit 0' TERM; while true; do sleep 0.02; done`,
          ],
        }),
        runs('i2', 'while ! test -e /e/side; do sleep 0.02; done; touch /e/i2'),
      ].map((container) => ({ ...container, volumeMounts: mounts })),
      containers: [
        {
          ...runs(
            'main',
            `test -e /e/i2 && echo ready; trap 'sleep 0.5; touch /h/main-end; exit 0' TERM; while true; do sleep 0.02; done`,
          ),
          volumeMounts: mounts,
        },
      ],
      volumes: [
        { name: 'e', emptyDir: {} },
        { name: 'h', hostPath: { path: join(node.world.directory, 'stamps'), type: 'DirectoryOrCreate' } },
      ],
    });
    await running('order', 'main');
    await untilLogged(node, 'order', 'main', 'ready');
    await running('order', 'side');
    await rm(path);
    await gone('order');
    const stamp = async (name: string) =>
      (await stat(join(node.world.directory, 'stamps', name), { bigint: true })).mtimeNs;
    assert.ok(
      (await stamp('main-end')) <= (await stamp('side-term')),
      'the sidecar was told to go when main had ended',
    );
  });

  test(`${runtime}: what ignores SIGTERM is killed when its grace is over; preStop runs first`, async (t) => {
    const { node, write, running, gone } = await podNode(t, { runtime });
    const stamps = join(node.world.directory, 'hook');
    const path = await write('deaf', {
      terminationGracePeriodSeconds: 3,
      containers: [
        runs('c', `trap '' TERM; echo deaf; while true; do sleep 0.05; done`, {
          lifecycle: { preStop: { exec: { command: ['sh', '-c', 'touch /h/hook'] } } },
          volumeMounts: [{ name: 'h', mountPath: '/h' }],
        }),
      ],
      volumes: [{ name: 'h', hostPath: { path: stamps, type: 'DirectoryOrCreate' } }],
    });
    await running('deaf', 'c');
    await untilLogged(node, 'deaf', 'c', 'deaf');
    const begun = performance.now();
    await rm(path);
    await gone('deaf');
    const took = performance.now() - begun;
    assert.ok(took > 2500 && took < 60_000, `gone after ${took.toFixed(0)} ms`);
    assert.ok(existsSync(join(stamps, 'hook')), 'the hook has run');
  });
}

const mounts = [
  { name: 'e', mountPath: '/e' },
  { name: 'h', mountPath: '/h' },
];

test('a command that does not exist and an image that can not be had: clear events, others unharmed', async (t) => {
  const { write, running, untilEvent, gone } = await podNode(t);
  const bad = await write('bad', { containers: [{ ...stays('c'), command: ['/no/such/thing'] }] });
  const none = await write('none', { containers: [{ ...stays('c'), image: '127.0.0.1:5999/none/here:1' }] });
  await write('good', { containers: [stays('c')] });
  await running('good', 'c');
  await untilEvent(
    'bad',
    /^Failed: "Error: failed to create containerd task: .*\/no\/such\/thing.*no such file or directory"/,
  );
  await untilEvent('bad', /^BackOff: /);
  await untilEvent('none', /^Failed: "Error: ErrImagePull"/);
  await rm(bad);
  await rm(none);
  await gone('bad');
  await gone('none');
  await running('good', 'c');
});

test('an edited pod is replaced when the old one is gone; a pod that finishes is not run again', async (t) => {
  const { node, write, running, containers, untilEvent, sandboxes } = await podNode(t);
  await write('edit', {
    terminationGracePeriodSeconds: 4,
    containers: [runs('c', `trap 'sleep 1; exit 0' TERM; echo one; while true; do sleep 0.05; done`)],
  });
  const before = await running('edit', 'c');
  await write('edit', { containers: [stays('c')] });
  const overlaps: number[] = [];
  const after = await until('the new one runs', async () => {
    const running = (await containers('edit')).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
    overlaps.push(running.length);
    const [newest] = running;
    return newest !== undefined && newest.id !== before.id ? newest : undefined;
  });
  assert.ok(Math.max(...overlaps) === 1, 'never both at once');
  assert.notEqual(after.labels['io.kubernetes.pod.uid'], before.labels['io.kubernetes.pod.uid']);

  await write('once', { restartPolicy: 'Never', containers: [runs('c', 'echo did it; exit 0')] });
  await untilLogged(node, 'once', 'c', 'did it');
  await until('its sandbox is stopped', async () => ((await sandboxes('once'))[0]?.state === 1 ? true : undefined));
  await node.kubelet.restart();
  await write('later', { containers: [stays('c')] });
  await running('later', 'c');
  assert.equal((await containers('once', 'c')).length, 1, 'not run again, also not by the next kubelet');
  assert.equal((await readPodLog(node, 'once', 'c')).match(/did it/g)?.length, 1);
  await untilEvent('edit', /^Killing: "Stopping container c"/);
});
