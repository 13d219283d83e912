/** Our kubelet as a node of a real cluster. One cluster serves the whole file; each step leaves the node Ready. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeNode } from '../../src/api/node.ts';
import type { Lease } from '../../src/node/rules/lease.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { waitForObject } from '../lab/cluster/wait.ts';
import { lab } from '../lab/lab.ts';
import { until } from '../node/pod-support.ts';
import {
  type ApiEvent,
  getNode,
  LEASES,
  NAME,
  NODES,
  nodeEvents,
  ready,
  untilEvent,
  untilNode,
} from './node-support.ts';
import { quarrels, quarrelsWithReference } from './node-twins.ts';

/** `make repeated`. */
const LONG = process.env['LONG'] === '1';

const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../src/node/testdata/node.json'), 'utf8'),
) as KubeNode;

test('a node of a cluster', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  await using cluster = await lab.cluster({
    kubelet: 'ours',
    nodeName: NAME,
    test: t,
    config: {
      nodeLeaseDurationSeconds: 4,
      registerWithTaints: [{ key: 'lab.local/taint', value: 'v', effect: 'PreferNoSchedule' }],
    },
    // The later flag wins: the address is found out.
    flags: ['--node-labels=lab.local/mark=a,node.kubernetes.io/instance-type=small', '--node-ip='],
  });
  await t.test('is registered as the recorded one was', () => equalsRecording(cluster));
  await t.test('has the labels and taints that it was told', () => labelsAndTaints(cluster));
  await t.test('tells the usual events', () => usualEvents(cluster));
  await t.test('renews its lease', () => renewsLease(cluster));
  await t.test('restarts without a word to others', () => restarts(cluster));
  await t.test('comes back when it is deleted', () => comesBack(cluster));
  await t.test('shows that its network is not ready, in the usual words', () => networkNotReady(cluster));
  await t.test('outlives its API server', () => serverRestart(cluster));
  await t.test('quarrels in measure with another machine under its name, and says which', () => quarrels(cluster));
  if (LONG) await t.test('quarrels so with the reference too', () => quarrelsWithReference(cluster));
  await t.test('has two addresses, and waits for its cloud', () => cloudNode(cluster));
  await t.test('leaves its registration to others, if told so', () => registeredByOthers(cluster));
  await t.test('says that its clock is wrong', () => wrongClock(cluster));
  await t.test('says whose credentials it was given', () => wrongCredentials(cluster));
  await t.test('shows that its runtime is down after half a minute, and its return', () => runtimeDown(cluster));
});

/** Why something differs from the recording: the machine, the flags of this test, or that it isn't built. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'status.declaredFeatures': 'only what is built is declared: resizing and WebSockets v5 are not',
  'status.capacity.memory': 'another machine',
  'status.capacity.ephemeral-storage': 'another machine',
  'status.capacity.cpu': 'another machine',
  'status.allocatable.memory': 'another machine',
  'status.allocatable.ephemeral-storage': 'another machine',
  'status.allocatable.cpu': 'another machine',
  'status.images': 'other images; their form is compared below',
  'status.nodeInfo.bootID': 'another boot',
  'status.nodeInfo.machineID': 'another machine',
  'status.nodeInfo.systemUUID': 'another machine',
  'status.nodeInfo.kernelVersion': 'another machine',
  'spec.taints': 'of this test',
};
const VARIES =
  /Timestamp$|Time$|^metadata\.(uid|resourceVersion|name|labels|managedFields)|Hostname|^metadata\.annotations/;

async function equalsRecording(cluster: Cluster): Promise<void> {
  const node = await getNode(cluster);
  const differences: string[] = [];
  compare(RECORDED, node, '', differences);
  assert.deepEqual(
    differences.filter((path) => !Object.hasOwn(DIFFERENT, path) && !VARIES.test(path)),
    [],
  );
  assert.equal(node.metadata.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'], 'true');
  assert.deepEqual(node.status?.addresses, [
    { type: 'InternalIP', address: '192.0.2.10' },
    { type: 'Hostname', address: NAME },
  ]);
  assert.deepEqual(Object.keys(node.status?.capacity ?? {}), Object.keys(RECORDED.status?.capacity ?? {}));
  const images = node.status?.images ?? [];
  assert.ok(images.some(({ names }) => names?.includes('lab.local/busybox:1')));
  const sizes = images.map(({ sizeBytes }) => sizeBytes ?? 0);
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  );
}

function compare(left: unknown, right: unknown, path: string, differences: string[]): void {
  const isDeep = (value: unknown): value is object => typeof value === 'object' && value !== null;
  if (isDeep(left) && isDeep(right) && !Object.hasOwn(DIFFERENT, path)) {
    if (path === 'status.addresses') return; // compared on their own
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const inner = path === '' ? key : `${path}.${key}`;
      compare((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key], inner, differences);
    }
  } else if (JSON.stringify(left) !== JSON.stringify(right)) differences.push(path);
}

async function labelsAndTaints(cluster: Cluster): Promise<void> {
  const { metadata, spec } = await getNode(cluster);
  assert.deepEqual(metadata.labels, {
    ...RECORDED.metadata.labels,
    'kubernetes.io/hostname': NAME,
    'lab.local/mark': 'a',
    'node.kubernetes.io/instance-type': 'small',
    // The API server keeps the old name of the same thing.
    ...(metadata.labels?.['beta.kubernetes.io/instance-type'] === undefined
      ? {}
      : { 'beta.kubernetes.io/instance-type': 'small' }),
  });
  const own = (spec?.taints ?? []).filter(({ key }) => key.startsWith('lab.local/'));
  assert.deepEqual(own, [{ key: 'lab.local/taint', value: 'v', effect: 'PreferNoSchedule' }]);
}

async function usualEvents(cluster: Cluster): Promise<void> {
  const text = readFileSync(join(import.meta.dirname, '../../src/node/testdata/node-events.jsonl'), 'utf8');
  const recorded = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ApiEvent);
  const ours = recorded.filter(({ source }) => source?.component === 'kubelet');
  for (const { reason, message, type } of ours) {
    const event = await untilEvent(cluster, reason);
    assert.equal(event.message, message.replaceAll('labnode', NAME));
    assert.equal(event.type, type);
    assert.deepEqual(event.source, { component: 'kubelet', host: NAME });
    assert.equal(event.involvedObject.uid, NAME);
  }
}

async function untilRenewed(cluster: Cluster, after: string): Promise<Lease> {
  const wanted = { collection: LEASES, name: NAME, what: `renewed after ${after}` };
  const isDone = (lease: Lease) => (lease.spec?.renewTime ?? '') > after;
  return (await waitForObject(cluster.admin, wanted, (object) =>
    isDone(object as unknown as Lease),
  )) as unknown as Lease;
}

async function renewsLease(cluster: Cluster): Promise<void> {
  const first = await untilRenewed(cluster, '');
  assert.deepEqual(first.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: NAME, uid: (await getNode(cluster)).metadata.uid },
  ]);
  assert.equal(first.spec?.holderIdentity, NAME);
  assert.equal(first.spec.leaseDurationSeconds, 4);
  const next = await untilRenewed(cluster, first.spec.renewTime ?? '');
  assert.equal(next.metadata.uid, first.metadata.uid);
  await cluster.admin.request(`${LEASES}/${NAME}`, { method: 'DELETE' });
  const again = await untilRenewed(cluster, next.spec?.renewTime ?? '');
  assert.notEqual(again.metadata.uid, first.metadata.uid);
}

async function restarts(cluster: Cluster): Promise<void> {
  const before = await getNode(cluster);
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
  const body = { status: { capacity: { 'example.com/widget': '3' } } };
  assert.equal((await cluster.admin.request(`${NODES}/${NAME}/status`, { ...patch, body })).status, 200);
  await cluster.node.kubelet.restart();
  const { spec } = (await cluster.admin.get(`${LEASES}/${NAME}`)) as unknown as Lease;
  await untilRenewed(cluster, spec?.renewTime ?? '');
  const after = await untilNode(
    cluster,
    'with the widget',
    ({ status }) => status?.allocatable?.['example.com/widget'] === '3',
  );
  assert.equal(after.metadata.uid, before.metadata.uid);
  assert.equal(ready(after)?.lastTransitionTime, ready(before)?.lastTransitionTime, 'it was Ready all the time');
}

async function comesBack(cluster: Cluster): Promise<void> {
  const before = await getNode(cluster);
  await cluster.admin.request(`${NODES}/${NAME}`, { method: 'DELETE' });
  const after = await untilNode(
    cluster,
    'another node, Ready',
    (node) => node.metadata.uid !== before.metadata.uid && ready(node)?.status === 'True',
  );
  assert.equal(after.metadata.labels?.['lab.local/mark'], 'a');
  assert.ok(after.spec?.taints?.some(({ key }) => key === 'lab.local/taint'));
  const wanted = { collection: LEASES, name: NAME, what: 'owned by the new node' };
  await waitForObject(
    cluster.admin,
    wanted,
    (object) => (object as unknown as Lease).metadata.ownerReferences?.[0]?.uid === after.metadata.uid,
  );
}

async function networkNotReady(cluster: Cluster): Promise<void> {
  const file = join(cluster.node.world.directory, 'containerd', 'cni', '10-pods.conflist');
  await rename(file, `${file}.away`);
  const down = await untilNode(cluster, 'not Ready', (node) => ready(node)?.status === 'False');
  assert.equal(ready(down)?.reason, 'KubeletNotReady');
  assert.equal(
    ready(down)?.message,
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ' +
      'message:Network plugin returns error: cni plugin not initialized',
  );
  await rename(`${file}.away`, file);
  const up = await untilNode(cluster, 'Ready again', (node) => ready(node)?.status === 'True');
  assert.equal(ready(up)?.message, 'kubelet is posting ready status');
  await untilEvent(cluster, 'NodeNotReady');
}

/** It also starts while there is no API server, and joins when there is one. */
async function serverRestart(cluster: Cluster): Promise<void> {
  const { 'kube-apiserver': server } = cluster.components;
  const { kubelet } = cluster.node;
  await server.kill();
  await kubelet.restart();
  assert.equal((await kubelet.healthz()).status, 200);
  await server.start();
  const { spec } = (await cluster.admin.get(`${LEASES}/${NAME}`)) as unknown as Lease;
  await untilRenewed(cluster, spec?.renewTime ?? '');
  await untilNode(cluster, 'Ready', (node) => ready(node)?.status === 'True');
  // What changes afterwards is seen: the watch is back.
  await cluster.kubectl('cordon', NAME);
  const events = await untilEvent(cluster, 'NodeNotSchedulable');
  assert.equal(events.message, `Node ${NAME} status is now: NodeNotSchedulable`);
  await cluster.kubectl('uncordon', NAME);
  await untilEvent(cluster, 'NodeSchedulable');
}

/** Two addresses, and a cloud that has the last word about them. */
async function cloudNode(cluster: Cluster): Promise<void> {
  const { kubelet } = cluster.node;
  const { flags = [] } = cluster.kubeletSettings;
  await cluster.node.exec(['ip', 'address', 'add', '2001:db8::10/64', 'dev', 'node0', 'nodad']);
  await kubelet.stop();
  await cluster.admin.request(`${NODES}/${NAME}`, { method: 'DELETE' });
  await kubelet.start({ flags: [...flags, '--cloud-provider=external', '--node-ip=2001:db8::10,192.0.2.10'] });
  const node = await untilNode(cluster, 'Ready', (each) => ready(each)?.status === 'True');
  assert.deepEqual(node.status?.addresses, [
    { type: 'InternalIP', address: '2001:db8::10' },
    { type: 'InternalIP', address: '192.0.2.10' },
    { type: 'Hostname', address: NAME },
  ]);
  assert.equal(node.metadata.annotations?.['alpha.kubernetes.io/provided-node-ip'], '2001:db8::10,192.0.2.10');
  const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
  assert.deepEqual(
    node.spec?.taints?.filter(({ key }) => key === taint.key),
    [taint],
  );
  await kubelet.stop();
  await kubelet.start({ flags });
  const after = await untilNode(cluster, 'with one address', ({ status }) => status?.addresses?.length === 2);
  assert.equal(after.metadata.annotations?.['alpha.kubernetes.io/provided-node-ip'], undefined);
}

/** registerNode false: there is no node until somebody makes one, and then it is kept like any other. Then once more with an id of a cloud. */
async function registeredByOthers(cluster: Cluster): Promise<void> {
  const { admin, node, kubeletSettings } = cluster;
  const { kubelet } = node;
  const { config } = kubeletSettings;
  await kubelet.stop();
  await admin.request(`${NODES}/${NAME}`, { method: 'DELETE' });
  const said = 'Node is not registered yet';
  const timesSaid = async () => (await readFile(kubelet.logFile, 'utf8')).split(said).length - 1;
  await kubelet.start({ config: { ...config, registerNode: false, nodeStatusUpdateFrequency: '1s' } });
  while ((await timesSaid()) < 3) await delay(100);
  assert.equal((await admin.request(`${NODES}/${NAME}`)).status, 404);
  await admin.create(NODES, { metadata: { name: NAME, labels: { 'made-by': 'hand' } } });
  const made = await untilNode(cluster, 'Ready', (each) => ready(each)?.status === 'True');
  assert.equal(made.metadata.labels?.['made-by'], 'hand');
  assert.equal(made.metadata.labels?.['lab.local/mark'], undefined, 'its labels are those of who made it');
  assert.ok(!made.spec?.taints?.some(({ key }) => key === 'lab.local/taint'));
  // The lease is not made together with the node's status.
  while ((await admin.request(`${LEASES}/${NAME}`)).status === 404) await delay(100);
  const { spec } = (await admin.get(`${LEASES}/${NAME}`)) as unknown as Lease;
  await untilRenewed(cluster, spec?.renewTime ?? '');
  await admin.request(`${NODES}/${NAME}`, { method: 'DELETE' });
  const before = await timesSaid();
  while ((await timesSaid()) < before + 3) await delay(100);
  assert.equal((await admin.request(`${NODES}/${NAME}`)).status, 404, 'it does not come back by itself');
  await kubelet.stop();
  await kubelet.start({ config: { ...config, providerID: 'lab://zone-1/machine-7' } });
  const registered = await untilNode(cluster, 'Ready', (each) => ready(each)?.status === 'True');
  assert.equal(registered.spec?.providerID, 'lab://zone-1/machine-7');
  assert.equal(registered.metadata.labels?.['lab.local/mark'], 'a');
  await kubelet.stop();
  await kubelet.start({ ...(config === undefined ? {} : { config }) });
}

/** The machine has only one clock; this kubelet alone sees it run a minute and a half ahead. */
async function wrongClock(cluster: Cluster): Promise<void> {
  const { kubelet, world } = cluster.node;
  assert.ok(!(await nodeEvents(cluster)).some(({ reason }) => reason === 'ClockSkew'));
  const file = join(world.directory, 'clock.cjs');
  await writeFile(file, 'const now = Date.now; Date.now = () => now() + 90_000;\n');
  await kubelet.stop();
  await kubelet.start({ env: { NODE_OPTIONS: `--require=${file}` } });
  const { message, type } = await untilEvent(cluster, 'ClockSkew');
  assert.match(message, /the clock of this machine is 1m[23]\ds ahead of the API server's/);
  assert.equal(type, 'Warning');
  await kubelet.stop();
  await kubelet.start({ env: {} });
}

/** The name of the machine has changed, its credentials have not. NodeRestriction lets it touch nothing. */
async function wrongCredentials(cluster: Cluster): Promise<void> {
  const { kubelet } = cluster.node;
  await kubelet.stop();
  const { flags = [] } = cluster.kubeletSettings;
  await kubelet.start({ flags: [...flags, '--hostname-override=renamed'] });
  const wanted = /the credentials in the kubeconfig are those of node \\*"node-1.*this node's name is \\*"renamed/;
  await until('a clear word about the credentials', async () =>
    wanted.test(await readFile(kubelet.logFile, 'utf8')) ? true : undefined,
  );
  assert.equal((await cluster.admin.request(`${NODES}/renamed`)).status, 404);
  assert.ok(kubelet.isRunning());
  await kubelet.stop();
  await kubelet.start({ flags });
  await untilNode(cluster, 'Ready', (node) => ready(node)?.status === 'True');
}

async function runtimeDown(cluster: Cluster): Promise<void> {
  const { containerd } = cluster.node;
  const started = performance.now();
  await containerd.stop();
  const down = await untilNode(cluster, 'not Ready', (node) => ready(node)?.status === 'False');
  assert.equal(ready(down)?.message, 'container runtime is down');
  assert.ok(performance.now() - started > 20_000, 'a runtime that restarts must not make the node not Ready');
  await containerd.start();
  await untilNode(cluster, 'Ready again', (node) => ready(node)?.status === 'True');
}
