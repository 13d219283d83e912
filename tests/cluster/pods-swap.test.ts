/** The reference kubelet gives its node to ours and takes it back: no one inside the containers notices. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { createSupplies } from '../lab/supplies.ts';
import { containerIds, isReady, NODE, type PodCluster, podCluster, restarts, stays } from './pods-support.ts';

const OURS = resolve(import.meta.dirname, '../../dist/kubelet');
const NAMES = ['with-probe', 'with-init', `kept-${NODE}`];

test('a kubelet swap', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const world = await podCluster(t, { kubelet: 'reference' });
  const reference = await createSupplies(process.env).referenceKubelet();
  await begin(world);
  const before = await Promise.all(NAMES.map((name) => world.ready(name)));

  await t.test('ours takes over: every container runs on, static pods too', async () => {
    await swap(world, OURS);
    await sameContainers(world, before);
  });
  await t.test('ours restarts without an API server: still nothing is restarted', async () => {
    const apiServer = world.cluster.components['kube-apiserver'];
    await apiServer.kill();
    await world.cluster.node.kubelet.restart();
    await apiServer.start();
    await world.create('proof');
    await world.ready('proof');
    await sameContainers(world, before);
    await world.delete('proof');
    await world.gone('proof');
  });
  await t.test('the reference comes back: the same again', async () => {
    await swap(world, reference);
    await sameContainers(world, before);
  });
  await t.test('a manifest that changed meanwhile is restarted once', async () => {
    await world.cluster.node.kubelet.stop();
    await writeStaticPod(world.cluster.node, { name: 'kept', spec: { containers: [stays('changed')] } });
    await world.cluster.node.kubelet.start({ binary: OURS });
    const changed = await world.become(
      `kept-${NODE}`,
      'as the new manifest says',
      (pod) => isReady(pod) && pod.spec.containers[0]?.name === 'changed',
    );
    assert.equal(restarts(changed), 0);
  });
});

async function begin(world: PodCluster): Promise<void> {
  const probe = { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 60 };
  await world.create('with-probe', { containers: [stays('main', { readinessProbe: probe, livenessProbe: probe })] });
  const sidecar = { ...stays('side'), restartPolicy: 'Always' };
  await world.create('with-init', { initContainers: [sidecar], containers: [stays('main'), stays('other')] });
  const resources = { requests: { cpu: '10m', memory: '0.5Gi' } };
  await writeStaticPod(world.cluster.node, { name: 'kept', spec: { containers: [stays('main', { resources })] } });
}

async function swap(world: PodCluster, binary: string): Promise<void> {
  const { kubelet } = world.cluster.node;
  await kubelet.stop();
  await kubelet.start({ binary });
  // It has listed the pods once a new one runs.
  await world.create('new-one', { terminationGracePeriodSeconds: 1 });
  await world.ready('new-one');
  await world.delete('new-one');
  await world.gone('new-one');
}

async function sameContainers(world: PodCluster, before: readonly Pod[]): Promise<void> {
  for (const [index, name] of NAMES.entries()) {
    const pod = await world.get(name);
    const old = before[index] as Pod;
    assert.equal(pod.metadata.uid, old.metadata.uid, `${name} is the same object`);
    assert.deepEqual(containerIds(pod), containerIds(old), name);
    assert.equal(restarts(pod), 0, name);
    assert.ok(isReady(pod), `${name} is Ready`);
  }
}
