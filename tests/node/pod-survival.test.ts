/** What pods survive: the death of the kubelet at any moment, and of the container runtime. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { untilLogged } from '../lab/static-pods.ts';
import { freeze } from './cri-support.ts';
import { BUSYBOX, never, type PodNode, podNode, runs, stays, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';

/** Numbers that look random and are the same again for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SEED = Number(process.env['KUBELET_TS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** Every container id with the times it was made and how often the kubelet counts it restarted. */
async function picture({ cri }: PodNode): Promise<string[]> {
  const all = await cri.containers.list(undefined, never);
  return all.map(({ id, metadata, state }) => `${metadata?.name}#${metadata?.attempt} ${id} ${state}`).sort();
}

test('kill -9 of the kubelet while pods run: not one container is touched', async (t) => {
  const world = await podNode(t);
  const { node, write, running } = world;
  for (const name of ['a', 'b', 'c']) {
    await write(name, { initContainers: [runs('i', 'true')], containers: [stays('x'), stays('z')] });
  }
  for (const name of ['a', 'b', 'c']) for (const container of ['x', 'z']) await running(name, container);
  const before = await picture(world);
  assert.equal(before.length, 9);
  for (let round = 0; round < 5; round += 1) {
    await node.kubelet.kill();
    await node.kubelet.start();
  }
  // Whatever the last kubelet would do, it has done when it has brought up another pod.
  await write('d', { containers: [stays('x')] });
  await running('d', 'x');
  const after = (await picture(world)).filter((line) => before.includes(line));
  assert.deepEqual(after, before);
});

/** `make soak` has hundreds. */
const ROUNDS = 3;

test('kill -9 of the kubelet at random moments of starting and ending: nothing doubled, nothing lost', async (t) => {
  t.diagnostic(`seed ${SEED} (set KUBELET_TS_SEED to repeat)`);
  const random = randomNumbers(SEED);
  const world = await podNode(t);
  const { node, write, running, gone, containers, sandboxes } = world;
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = [`p${round}`, `q${round}`];
    const paths = await Promise.all(
      names.map((name) =>
        write(name, {
          terminationGracePeriodSeconds: 2,
          initContainers: [runs('i', 'true')],
          containers: [stays('x')],
        }),
      ),
    );
    await delay(random() * 500);
    await node.kubelet.kill();
    await node.kubelet.start();
    for (const name of names) {
      await until(`${name} runs`, async () =>
        (await containers(name, 'x')).some(({ state }) => state === ContainerState.CONTAINER_RUNNING)
          ? true
          : undefined,
      );
      await assertSingle(world, name);
    }
    await Promise.all(paths.map((path) => rm(path)));
    await delay(random() * 500);
    await node.kubelet.kill();
    await node.kubelet.start();
    for (const name of names) await gone(name);
  }
  await write('last', { containers: [stays('x')] });
  await running('last', 'x');
  assert.equal((await sandboxes('last')).length, 1);
});

async function assertSingle({ containers, sandboxes }: PodNode, pod: string): Promise<void> {
  const alive = (await containers(pod)).filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const names = alive.map(({ metadata }) => metadata?.name);
  assert.deepEqual(names, [...new Set(names)], `${pod} has a doubled container`);
  const ready = (await sandboxes(pod)).filter(({ state }) => state === 0);
  assert.equal(ready.length, 1, `${pod} has ${ready.length} ready sandboxes`);
}

test('a pod that was taken away while no kubelet ran is ended, with its own grace and its hook', async (t) => {
  const { node, write, running, gone } = await podNode(t);
  const path = await write('orphan', {
    terminationGracePeriodSeconds: 20,
    containers: [
      runs('c', `trap 'sleep 1; echo bye; exit 0' TERM; echo listens; while true; do sleep 0.05; done`, {
        lifecycle: { preStop: { exec: { command: ['sh', '-c', 'echo hook > /proc/1/fd/1'] } } },
      }),
    ],
  });
  await write('stays', { containers: [stays('c')] });
  const { logPath } = await running('orphan', 'c');
  await untilLogged(node, 'orphan', 'c', 'listens');
  const other = await running('stays', 'c');
  await node.kubelet.kill();
  await rm(path);
  // Read through one descriptor, because the file goes with its pod.
  const follow = `exec 3< ${logPath}; while [ -e ${logPath} ]; do cat <&3; sleep 0.1; done; cat <&3`;
  const following = node.exec(['sh', '-c', follow]);
  await node.kubelet.start();
  await gone('orphan');
  assert.equal((await running('stays', 'c')).id, other.id);
  assert.match((await following).stdout, /hook[\s\S]*bye/);
});

for (const runtime of RUNTIMES) {
  test(`${runtime}: the container runtime is killed and comes back: containers live on, work resumes by itself`, async (t) => {
    const { node, write, running, appeared } = await podNode(t, { runtime });
    await write('steady', { containers: [stays('x')] });
    const before = await running('steady', 'x');
    node.containerd.kill('SIGKILL');
    await until('health tells', async () => ((await node.kubelet.healthz()).status === 200 ? undefined : true));
    await write('meanwhile', { containers: [stays('x')] });
    await delay(300);
    assert.ok(node.kubelet.isRunning());
    await until('the runtime is gone', () => (node.containerd.isRunning() ? undefined : true));
    await node.containerd.start();
    await running('meanwhile', 'x');
    assert.equal((await running('steady', 'x')).id, before.id);
    await until('healthy again', async () => ((await node.kubelet.healthz()).status === 200 ? true : undefined));
    const crash = await write('crash', { containers: [runs('c', 'sleep 0.2; exit 1')] });
    await appeared('crash', 'c', 1);
    await rm(crash);
  });
}

test('the container runtime hangs (SIGSTOP): no crash, and everything goes on when it goes on', async (t) => {
  const { node, write, running } = await podNode(t);
  await write('steady', { containers: [stays('x')] });
  const before = await running('steady', 'x');
  await freeze(node.containerd.pid);
  try {
    await write('meanwhile', { containers: [{ ...stays('x'), image: BUSYBOX }] });
    await until('health tells', async () => ((await node.kubelet.healthz()).status === 200 ? undefined : true));
    assert.ok(node.kubelet.isRunning());
  } finally {
    process.kill(node.containerd.pid, 'SIGCONT');
  }
  await running('meanwhile', 'x');
  assert.equal((await running('steady', 'x')).id, before.id);
});
