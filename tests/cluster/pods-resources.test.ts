/** What a pod is told it has is what it has: resizes that are refused, claims that can't be met, the addresses of the node's network. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import { createSystemClock } from '../../src/base/clock.ts';
import { decodeAllocations } from '../../src/pods/rules/allocation-record.ts';
import { createCriClient } from '../../src/runtime/cri/client.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { createSupplies } from '../lab/supplies.ts';
import { never, runs } from '../node/pod-support.ts';
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
  await t.test('a resize is refused, and the pod is reported as it is', () => refusedResize(world));
  await t.test('the next kubelet knows of it, and restarts containers with what they had', () => afterRestart(world));
  await t.test('a resize that is taken back leaves no trace', () => takenBack(world));
  await t.test('the reference goes on with what ours has allocated', () => reference(world));
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
const SMALL_IN_FORCE = ['102', '102', String(32 * 1024 * 1024)];

async function refusedResize(world: PodCluster): Promise<void> {
  await world.create('sized', { containers: [stays('main', { resources: SMALL })] });
  const before = await world.ready('sized');
  assert.deepEqual(await inForce(world, before), SMALL_IN_FORCE);
  const { metadata } = await resize(world, sized('200m', '64Mi'));
  const pod = await world.become('sized', 'refused', (one) => conditionOf(one, 'PodResizePending') !== undefined);
  const { status, reason, message = '', observedGeneration } = conditionOf(pod, 'PodResizePending') ?? {};
  assert.deepEqual([status, reason, observedGeneration], ['True', 'Infeasible', metadata.generation]);
  assert.match(message, /not supported/);
  assert.deepEqual(pod.spec.containers[0]?.resources, sized('200m', '64Mi'));
  assertSmall(pod);
  assert.deepEqual(containerIds(pod), containerIds(before));
  assert.deepEqual(await inForce(world, pod), SMALL_IN_FORCE);
  await eventually('the event is there', async () => (await eventsOf(world, 'sized', 'ResizeInfeasible')).length > 0);
  const [said = ''] = await eventsOf(world, 'sized', 'ResizeInfeasible');
  assert.match(said, /^Pod resize Infeasible: \{"containers":\[\{"name":"main",.*"error":"In-place resize is not/);
}

function assertSmall(pod: Pod): void {
  assert.deepEqual(first(pod)?.resources, SMALL);
  assert.deepEqual(first(pod)?.allocatedResources, SMALL.requests);
  assert.deepEqual(pod.status?.resources, SMALL);
  assert.deepEqual(pod.status?.allocatedResources, SMALL.requests);
}

async function afterRestart(world: PodCluster): Promise<void> {
  const { node } = world.cluster;
  await node.kubelet.restart();
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  const before = await world.get('sized');
  await cri.containers.stop(first(before)?.containerID?.split('//')[1] ?? '', 0, never);
  await cri.close();
  const pod = await world.become('sized', 'restarted', (one) => restarts(one) === 1 && first(one)?.ready === true);
  assertSmall(pod);
  assert.deepEqual(await inForce(world, pod), SMALL_IN_FORCE);
  assert.equal(conditionOf(pod, 'PodResizePending')?.reason, 'Infeasible');
  assert.equal((await eventsOf(world, 'sized', 'ResizeInfeasible')).length, 1, 'it is not said again');
}

async function takenBack(world: PodCluster): Promise<void> {
  await resize(world, SMALL);
  const pod = await world.become('sized', 'settled', (one) => conditionOf(one, 'PodResizePending') === undefined);
  assert.equal(pod.status?.observedGeneration, pod.metadata.generation);
  assertSmall(pod);
  assert.equal(restarts(pod), 1);
}

/** Without our record it would take the new resources for those that the pod was admitted with. */
async function reference(world: PodCluster): Promise<void> {
  const { metadata } = await resize(world, sized('200m', '32Mi'));
  await world.become('sized', 'refused', (one) => conditionOf(one, 'PodResizePending') !== undefined);
  const { kubelet, kubeletDirectory } = world.cluster.node;
  await kubelet.stop();
  await kubelet.start({ binary: await createSupplies(process.env).referenceKubelet() });
  const proof = await world.create('proof');
  await world.ready('proof');
  const record = decodeAllocations(await readFile(join(kubeletDirectory, 'allocated_pods_state'), 'utf8'));
  assert.ok(record.ok);
  assert.ok(record.value.has(proof.metadata.uid), 'the reference has written the file');
  const isResizing = (await eventsOf(world, 'sized', 'ResizeStarted')).length > 0;
  assert.deepEqual(record.value.get(metadata.uid)?.containers['main'], isResizing ? sized('200m', '32Mi') : SMALL);
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
