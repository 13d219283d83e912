/** What a pod is told it has is what it has: resizes that are cut short or wait, claims that can't be met, the addresses of the node's network. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../src/api/pod.ts';
import { parseQuantity, quantityMilliValue } from '../../src/api/quantity.ts';
import { decodeAllocations } from '../../src/pods/rules/allocation-record.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { createSupplies } from '../lab/supplies.ts';
import { runs } from '../node/pod-support.ts';
import {
  conditionOf,
  containerIds,
  eventually,
  NODE,
  PODS,
  type PodCluster,
  phaseIs,
  podCluster,
  restarts,
  stays,
} from './pods-support.ts';

const sized = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const SMALL = sized('100m', '32Mi');

test('resources of pods', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const world = await podCluster(t);
  await t.test('a pod with claims waits and says why, while others start, and can be deleted', () => claims(world));
  await t.test('a pod on the network of its node is told the addresses in its status', () => hostNetwork(world));
  await t.test('a kubelet that dies while it resizes a pod has done it in the end', () => killedWhileResizing(world));
  await t.test('a resize waits for room, also under the next kubelet', () => deferred(world));
  await t.test('ours and the reference go on with each other’s resizes', () => reference(world));
});

const first = (pod: Pod) => pod.status?.containerStatuses?.[0];

async function resize(world: PodCluster, resources: object): Promise<Pod> {
  const body = { spec: { containers: [{ name: 'main', resources }] } };
  const contentType = 'application/strategic-merge-patch+json';
  const answer = await world.cluster.admin.request(`${PODS}/sized/resize`, { method: 'PATCH', body, contentType });
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as unknown as Pod;
}

async function eventsOf(world: PodCluster, name: string, reason: string): Promise<readonly string[]> {
  const query = `fieldSelector=${encodeURIComponent(`involvedObject.name=${name},reason=${reason}`)}`;
  const { items = [] } = (await world.cluster.admin.get(`/api/v1/namespaces/default/events?${query}`)) as {
    items?: readonly ApiObject[];
  };
  return items.map(({ message }) => String(message));
}

/** What the kernel holds the container and its pod to. */
async function inForce({ cluster: { node } }: PodCluster, pod: Pod): Promise<readonly string[]> {
  const id = first(pod)?.containerID?.split('//')[1] ?? '';
  const own = `kubepods/pod${pod.metadata.uid}`;
  const files = [`cpu/${own}/cpu.shares`, `cpu/${own}/${id}/cpu.shares`, `memory/${own}/${id}/memory.limit_in_bytes`];
  const read = files.map(async (file) => (await node.exec(['cat', join('/sys/fs/cgroup', file)])).stdout.trim());
  return await Promise.all(read);
}
/** Shares of the pod and of the container, and the container's bytes. */
const inKernel = (milliCpu: number, mebibytes: number) => {
  const shares = String(Math.trunc((milliCpu * 1024) / 1000));
  return [shares, shares, String(mebibytes * 1024 * 1024)];
};

const hasSettled = (pod: Pod) =>
  pod.status?.observedGeneration === pod.metadata.generation &&
  conditionOf(pod, 'PodResizePending') === undefined &&
  conditionOf(pod, 'PodResizeInProgress') === undefined &&
  JSON.stringify(first(pod)?.resources) === JSON.stringify(pod.spec.containers[0]?.resources);

async function killedWhileResizing(world: PodCluster): Promise<void> {
  const { node } = world.cluster;
  await world.create('sized', { containers: [stays('main', { resources: SMALL })] });
  const before = await world.ready('sized');
  assert.deepEqual(await inForce(world, before), inKernel(100, 32));
  for (const [at, pause] of [0, 20, 60, 150].entries()) {
    const [cpu, memory] = at % 2 === 0 ? [200, 64] : [100, 32];
    await resize(world, sized(`${cpu}m`, `${memory}Mi`));
    await delay(pause);
    await node.kubelet.kill();
    await node.kubelet.start();
    const pod = await world.become('sized', `resized after a death at ${pause} ms`, hasSettled);
    assert.deepEqual(await inForce(world, pod), inKernel(cpu, memory));
    assert.deepEqual(containerIds(pod), containerIds(before));
    assert.equal(restarts(pod), 0);
  }
}

async function deferred(world: PodCluster): Promise<void> {
  const { status } = (await world.cluster.admin.get(`/api/v1/nodes/${NODE}`)) as unknown as {
    status: { allocatable: { cpu: string } };
  };
  const quantity = parseQuantity(status.allocatable.cpu);
  assert.ok(quantity.ok);
  const rest = Number(quantityMilliValue(quantity.value)) - 100 - 300;
  const filler = stays('main', { resources: { requests: { cpu: `${rest}m` } } });
  await world.create('filler', { containers: [filler] });
  await world.ready('filler');
  const { metadata } = await resize(world, sized('600m', '32Mi'));
  const pod = await world.become('sized', 'deferred', (one) => conditionOf(one, 'PodResizePending') !== undefined);
  const { reason, message = '', observedGeneration } = conditionOf(pod, 'PodResizePending') ?? {};
  assert.deepEqual([reason, observedGeneration], ['Deferred', metadata.generation]);
  assert.match(message, /^Node didn't have enough resource: cpu, requested: 600, /);
  assert.deepEqual(first(pod)?.allocatedResources, SMALL.requests);
  await world.cluster.node.kubelet.restart();
  await eventually('the next kubelet waits too', async () => {
    const { items } = await kubeletPods(world);
    return items.some((one) => conditionOf(one, 'PodResizePending') !== undefined);
  });
  assert.equal((await eventsOf(world, 'sized', 'ResizeDeferred')).length, 1, 'it is not reported again');
  await world.delete('filler');
  const resized = await world.become('sized', 'resized', hasSettled);
  assert.deepEqual(await inForce(world, resized), inKernel(600, 32));
}

async function kubeletPods({ cluster }: PodCluster): Promise<{ readonly items: readonly Pod[] }> {
  const text = await cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/pods`);
  return JSON.parse(text) as { readonly items: readonly Pod[] };
}

/** Each goes on with what the other has allocated and put in force: nothing restarts, nothing is resized again. */
async function reference(world: PodCluster): Promise<void> {
  const { kubelet, kubeletDirectory } = world.cluster.node;
  const ours = kubelet.binary;
  const before = await world.get('sized');
  const started = (await eventsOf(world, 'sized', 'ResizeStarted')).length;
  await kubelet.stop();
  await kubelet.start({ binary: await createSupplies(process.env).referenceKubelet() });
  const proof = await world.create('proof');
  await world.ready('proof');
  const read = async (name: string) => decodeAllocations(await readFile(join(kubeletDirectory, name), 'utf8'));
  for (const name of ['allocated_pods_state', 'actuated_pods_state']) {
    const record = await read(name);
    assert.ok(record.ok && record.value.has(proof.metadata.uid), `the reference has written ${name}`);
    assert.deepEqual(record.value.get(before.metadata.uid)?.containers['main'], sized('600m', '32Mi'));
  }
  assert.equal((await eventsOf(world, 'sized', 'ResizeStarted')).length, started);
  await resize(world, SMALL);
  await world.become('sized', 'resized by the reference', hasSettled);
  await kubelet.stop();
  await kubelet.start({ binary: ours });
  await resize(world, sized('150m', '32Mi'));
  const pod = await world.become('sized', 'resized by ours', hasSettled);
  assert.deepEqual(await inForce(world, pod), inKernel(150, 32));
  assert.deepEqual(containerIds(pod), containerIds(before));
}

async function claims(world: PodCluster): Promise<void> {
  await world.create('claims', {
    nodeName: NODE,
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'not-there' }],
    containers: [stays('main', { resources: { claims: [{ name: 'gpu' }] } })],
  });
  const reason = 'FailedPrepareDynamicResources';
  await eventually('it says why', async () => (await eventsOf(world, 'claims', reason)).length > 0);
  assert.deepEqual(await eventsOf(world, 'claims', reason), [
    'Failed to prepare dynamic resources: resource claims are not supported yet (gpu)',
  ]);
  await world.create('beside');
  await world.ready('beside');
  const pod = await world.get('claims');
  assert.equal(pod.status?.phase, 'Pending');
  assert.deepEqual(first(pod)?.state, { waiting: { reason: 'ContainerCreating' } });
  for (const name of ['claims', 'beside']) {
    await world.delete(name);
    await world.gone(name);
  }
}

async function hostNetwork(world: PodCluster): Promise<void> {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const env = [field('POD_IP', 'status.podIP'), field('POD_IPS', 'status.podIPs'), field('HOST_IP', 'status.hostIP')];
  await world.create('host', {
    hostNetwork: true,
    restartPolicy: 'Never',
    containers: [runs('main', 'echo -n "$POD_IP|$POD_IPS|$HOST_IP" > /dev/termination-log', { env })],
  });
  const { status } = await world.become('host', 'over', phaseIs('Succeeded'));
  const { podIP, podIPs = [], hostIP } = status ?? {};
  assert.ok(podIP);
  const said = status?.containerStatuses?.[0]?.state.terminated?.message;
  assert.equal(said, `${podIP}|${podIPs.map(({ ip }) => ip).join(',')}|${hostIP}`);
}
