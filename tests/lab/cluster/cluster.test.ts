/** A cluster with the reference kubelet: if this fails, the lab is at fault and not our kubelet. One cluster serves the whole file. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lab } from '../lab.ts';
import type { ApiObject } from './api.ts';
import type { Cluster } from './cluster.ts';
import { API_PORT, COMPONENTS } from './components.ts';
import { readServedCertificate } from './serving-certificate.ts';
import { whyClusterIsSkipped } from './skip.ts';
import { waitForObject, waitUntilGone } from './wait.ts';

const PODS = '/api/v1/namespaces/default/pods';
const SECRETS = '/api/v1/namespaces/default/secrets';

test('a cluster with the reference kubelet', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const start = performance.now();
  const cluster = await lab.cluster({ kubelet: 'reference', nodeName: 'node-1', test: t });
  const elapsed = performance.now() - start;
  t.diagnostic(`up in ${Math.round(elapsed)} ms`);
  try {
    await t.test('has a Ready node of the right version', () => hasReadyNode(cluster));
    await t.test('runs a Deployment to Ready', () => runsDeployment(cluster));
    await t.test('shows logs and executes commands through the API server', () => logsAndExec(cluster));
    await t.test('lets a node see only the secrets of its own pods', () => nodeAuthorizer(cluster));
    await t.test('lets a node change no other node', () => nodeRestriction(cluster));
    await t.test('refuses strangers', () => refusesStrangers(cluster));
    await t.test('parts can be killed, frozen and started again', () => survivesFaults(cluster));
    await t.test('the API server takes a new certificate while it runs', () => newCertificate(cluster));
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
  leavesNothing(cluster);
});

/** Every process of the world was in its cgroup, so where that is gone they are. */
function leavesNothing(cluster: Cluster): void {
  for (const name of COMPONENTS) assert.equal(cluster.components[name].isRunning(), false, `${name} is still there`);
  const { directory, cgroup, hierarchies } = cluster.node.world;
  const places = [directory, ...hierarchies.mounts.map((mount) => join(mount, cgroup))];
  assert.deepEqual(places.filter(existsSync), []);
}

async function hasReadyNode(cluster: Cluster): Promise<void> {
  const columns = (await cluster.kubectl('get', 'nodes', '--no-headers')).trim().split(/\s+/);
  assert.equal(columns[0], 'node-1');
  assert.equal(columns[1], 'Ready');
  assert.match(columns[4] ?? '', /^v1\.36\./);
}

async function runsDeployment(cluster: Cluster): Promise<void> {
  const command = 'echo hello from $HOSTNAME; exec sleep 3600';
  await cluster.kubectl('create', 'deployment', 'web', '--image=lab.local/busybox:1', '--', 'sh', '-c', command);
  await cluster.kubectl('rollout', 'status', 'deployment/web', '--timeout=180s');
  const { items } = (await cluster.admin.get(`${PODS}?labelSelector=app%3Dweb`)) as { items?: readonly ApiObject[] };
  assert.equal(items?.length, 1);
  assert.equal(items[0]?.spec?.['nodeName'], 'node-1');
}

async function logsAndExec(cluster: Cluster): Promise<void> {
  assert.match(await cluster.kubectl('logs', 'deployment/web'), /^hello from web-/);
  assert.equal(await cluster.kubectl('exec', 'deployment/web', '--', 'sh', '-c', 'echo $((6 * 7))'), '42\n');
  const failed = await cluster.runKubectl(['exec', 'deployment/web', '--', 'sh', '-c', 'exit 3']);
  assert.equal(failed.code, 3);
  await assert.rejects(cluster.kubectl('logs', 'no-such-pod'), /no-such-pod" not found/);
}

/** The node may read a secret once a pod that uses it is bound to the node, and no other secret. */
async function nodeAuthorizer(cluster: Cluster): Promise<void> {
  const asNode = await cluster.apiAs(cluster.nodeCredentials);
  for (const name of ['used', 'foreign']) {
    await cluster.admin.create(SECRETS, { metadata: { name }, stringData: { key: 'value' } });
  }
  assert.equal((await asNode.request(`${SECRETS}/used`)).status, 403);
  const container = { name: 'main', image: 'lab.local/busybox:1', command: ['sleep', '3600'] };
  const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'used', key: 'key' } } }];
  await cluster.admin.create(PODS, {
    metadata: { name: 'with-secret' },
    spec: { nodeName: 'node-1', terminationGracePeriodSeconds: 0, containers: [{ ...container, env }] },
  });
  await waitForObject(cluster.admin, { collection: PODS, name: 'with-secret', what: 'Running' }, isRunning);
  assert.equal((await asNode.request(`${SECRETS}/used`)).status, 200);
  assert.equal((await asNode.request(`${SECRETS}/foreign`)).status, 403);
  await cluster.admin.request(`${PODS}/with-secret`, { method: 'DELETE' });
  await waitUntilGone(cluster.admin, PODS, 'with-secret');
}

async function nodeRestriction(cluster: Cluster): Promise<void> {
  const stranger = await cluster.apiAs(await cluster.pki.issueNode('node-2'));
  const patch = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const;
  const body = { metadata: { labels: { mark: 'x' } } };
  assert.equal((await stranger.request('/api/v1/nodes/node-1', { ...patch, body })).status, 403);
  const own = await cluster.apiAs(cluster.nodeCredentials);
  assert.equal((await own.request('/api/v1/nodes/node-1', { ...patch, body })).status, 200);
}

async function refusesStrangers(cluster: Cluster): Promise<void> {
  const nobody = await cluster.apiAs({ token: 'nobody00.nobody0000000000' });
  assert.equal((await nobody.request('/api/v1/nodes')).status, 401);
  const kubelet = `https://${cluster.node.address}:10250/pods`;
  assert.equal((await cluster.node.gate.request(kubelet, { tls: { rejectUnauthorized: false } })).status, 401);
}

async function survivesFaults(cluster: Cluster): Promise<void> {
  const { etcd, 'kube-apiserver': apiServer, 'kube-scheduler': scheduler } = cluster.components;
  scheduler.freeze();
  const pod = { containers: [{ name: 'main', image: 'lab.local/busybox:1', command: ['sleep', '3600'] }] };
  await cluster.admin.create(PODS, { metadata: { name: 'unplanned' }, spec: pod });
  assert.equal((await cluster.admin.get(`${PODS}/unplanned`)).spec?.['nodeName'], undefined);
  scheduler.resume();
  await waitForObject(cluster.admin, { collection: PODS, name: 'unplanned', what: 'Running' }, isRunning);

  const before = apiServer.pid;
  assert.equal((await apiServer.kill()).signal, 'SIGKILL');
  await assert.rejects(cluster.admin.request('/readyz'));
  await apiServer.start();
  assert.notEqual(apiServer.pid, before);
  await etcd.kill(); // its data outlives it; a graceful stop would wait 7 s for open watches
  await etcd.start();
  await apiServer.waitUntilHealthy();
  assert.equal((await cluster.admin.get(`${PODS}/unplanned`)).metadata?.name, 'unplanned');
  await assert.rejects(apiServer.start(), /runs already/);
}

async function newCertificate(cluster: Cluster): Promise<void> {
  const endpoint = { address: cluster.node.address, port: API_PORT };
  const before = await readServedCertificate(cluster.node.gate, endpoint);
  await cluster.renewServingCertificate();
  const after = await readServedCertificate(cluster.node.gate, endpoint);
  assert.notEqual(after.serialNumber, before.serialNumber);
  assert.equal((await cluster.admin.request('/readyz')).status, 200);
}

function isRunning(object: ApiObject): boolean {
  return (object.status as { phase?: string } | undefined)?.phase === 'Running';
}
