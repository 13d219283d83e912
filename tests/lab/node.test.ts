/** The lab tests itself: what a node world gives, and that it goes without a trace. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { listTrees, processesIn, readHierarchies } from '../../tools/machine/cgroup-trees.ts';
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../tools/machine/images.ts';
import { RUNTIMES } from '../node/runtimes.ts';
import { TESTSERVER_IMAGE } from './images/testserver.ts';
import { type LabNode, lab } from './lab.ts';
import { eventually, untilLogged, writeStaticPod } from './static-pods.ts';

const sleeper = (words: string) => ({
  containers: [{ name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', `echo ${words}; exec sleep 1000`] }],
});

async function traces(node: LabNode): Promise<string[]> {
  const hierarchies = await readHierarchies();
  const cgroup = node.world.cgroup.slice(1);
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(node.id));
  return [
    ...(existsSync(node.world.directory) ? [node.world.directory] : []),
    ...(await listTrees(hierarchies, cgroup)),
    ...(await processesIn(hierarchies, cgroup)).map((pid) => `process ${pid}`),
    ...mounts,
  ];
}

for (const runtime of RUNTIMES) {
  test(`a node with ${runtime} runs a pod under the reference kubelet and goes without a trace`, async (t) => {
    const begun = performance.now();
    const node = await lab.reference({ test: t, runtime });
    const up = performance.now() - begun;
    try {
      t.diagnostic(`node up in ${up.toFixed(0)} ms`);
      const { stdout: images } = await node.containerd.ctr('images', 'ls', '-q');
      for (const name of [PAUSE_IMAGE, BUSYBOX_IMAGE, TESTSERVER_IMAGE]) assert.ok(images.includes(name), name);

      assert.equal((await node.kubelet.healthz()).status, 200);
      await writeStaticPod(node, { name: 'first', spec: sleeper('hello from the lab') });
      await untilLogged(node, 'first', 'main', 'hello from the lab');
      const { stdout: tasks } = await node.containerd.ctr('tasks', 'ls', '-q');
      assert.equal(tasks.trim().split('\n').length, 2, 'sandbox and container');
    } finally {
      await node[Symbol.asyncDispose]();
    }
    assert.deepEqual(await traces(node), []);
  });
}

for (const runtime of RUNTIMES) {
  test(`our kubelet is healthy on ${runtime}, and SIGTERM ends it with 0`, async (t) => {
    await using node = await lab.node({ test: t, runtime });
    assert.deepEqual(await node.kubelet.healthz(), { status: 200, text: 'ok' });
    assert.deepEqual(await node.kubelet.stop(), { code: 0, signal: null });
    await node.kubelet.restart();
    assert.equal((await node.kubelet.healthz('/healthz?verbose')).status, 200);
  });
}

test('a node is sealed: its own interfaces, no way out, its own /var/lib/kubelet and cgroup root', async (t) => {
  await using node = await lab.node({ test: t, kubelet: 'none' });
  const inside = async (script: string) => (await node.exec(['sh', '-c', script])).stdout;
  assert.deepEqual((await inside('ls /proc/self/net/dev_snmp6')).trim().split('\n'), ['lo', 'node0']);
  assert.match(await inside('ip route show default'), /^default via 192\.0\.2\.1 dev node0/);
  assert.match(await inside('cat /proc/self/cgroup'), /^0::\/anchor$/m);
  assert.equal(await inside('ls -A /var/lib/kubelet /run/netns'), '/run/netns:\n\n/var/lib/kubelet:\n');
  await inside('touch /var/lib/kubelet/mark /var/lib/mark');
  assert.ok(existsSync(`${node.kubeletDirectory}/mark`));
  assert.ok(!existsSync('/var/lib/mark') && !existsSync('/var/lib/kubelet/mark'), 'nothing shows outside');
  // The gateway does not exist, so nothing answers for it: a connection finds no host, or times out.
  const out = await node.exec(['timeout', '2', 'bash', '-c', 'exec 3<>/dev/tcp/198.51.100.1/80']);
  assert.notEqual(out.code, 0);
  await assert.rejects(node.gate.connect('127.0.0.1', 9), { code: 'ECONNREFUSED' });
});

test('two worlds live side by side with the same names, ports and pods', async (t) => {
  await using one = await lab.reference({ test: t });
  await using two = await lab.reference({ test: t, runtime: 'containerd-1.6' });
  await Promise.all([
    writeStaticPod(one, { name: 'twin', spec: sleeper('I am one') }),
    writeStaticPod(two, { name: 'twin', spec: sleeper('I am two') }),
  ]);
  assert.doesNotMatch(await untilLogged(one, 'twin', 'main', 'I am one'), /two/);
  assert.doesNotMatch(await untilLogged(two, 'twin', 'main', 'I am two'), /one/);
  await two[Symbol.asyncDispose]();
  assert.equal((await one.kubelet.healthz()).status, 200);
  assert.equal((await one.containerd.ctr('tasks', 'ls', '-q')).stdout.trim().split('\n').length, 2);
  assert.deepEqual(await traces(two), []);
});

test('kubelet and containerd can be killed and started again; containers live on', async (t) => {
  await using node = await lab.reference({ test: t });
  await writeStaticPod(node, { name: 'steady', spec: sleeper('steady') });
  await untilLogged(node, 'steady', 'main', 'steady');
  const tasks = async () => (await node.containerd.ctr('tasks', 'ls')).stdout.split('\n').sort().join('\n');
  const before = await tasks();

  assert.deepEqual(await node.kubelet.kill(), { code: null, signal: 'SIGKILL' });
  await assert.rejects(node.kubelet.healthz(), { code: 'ECONNREFUSED' });
  node.containerd.kill('SIGKILL');
  await eventually('containerd is dead', () => (node.containerd.isRunning() ? undefined : true));
  await node.containerd.start();
  await node.kubelet.start();
  assert.equal(await tasks(), before);
});

test('a kubelet that refuses to start is an error that quotes its log', async (t) => {
  await assert.rejects(
    lab.reference({ test: t, config: { maxPods: -1 } }),
    /did not become healthy.*it ended.*maxPods/is,
  );
});

test('a burst of containers leaves no cgroup behind', async (t) => {
  const node = await lab.node({ test: t, kubelet: 'none' });
  try {
    const names = Array.from({ length: 20 }, (_, index) => `burst-${index}`);
    const runs = names.map((name) => node.containerd.ctr('run', '--detach', BUSYBOX_IMAGE, name, 'sleep', '1000'));
    for (const { code, stderr } of await Promise.all(runs)) assert.equal(code, 0, stderr);
    const running = await processesIn(await readHierarchies(), `${node.world.cgroup.slice(1)}/k8s.io`);
    assert.equal(running.length, names.length, 'containers without a parent cgroup are inside the world too');
  } finally {
    await node[Symbol.asyncDispose]();
  }
  assert.deepEqual(await traces(node), []);
  const hierarchies = await readHierarchies();
  assert.deepEqual(await listTrees(hierarchies, 'k8s.io'), []);
  assert.deepEqual(
    (await lab.leftovers()).filter(({ name }) => name.includes(node.id)),
    [],
  );
});
