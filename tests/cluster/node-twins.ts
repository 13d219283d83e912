/** Two machines under one node's name: both say so, neither does harm, and all is well when one of them is gone. */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeNode } from '../../src/api/node.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { waitForObject, waitUntilGone } from '../lab/cluster/wait.ts';
import { writeStaticPod } from '../lab/static-pods.ts';
import { createSupplies } from '../lab/supplies.ts';
import { getNode, NAME, ready, untilEvent, untilNode } from './node-support.ts';
import { containerIds, isReady, PODS, stays } from './pods-support.ts';
import { startTwin } from './twin-support.ts';

interface Quarrel {
  readonly pod: Pod;
  readonly manifest: string;
}

const POD = 'quarrelled-about';
const MIRROR = `static-${NAME}`;

async function beginQuarrel({ admin, node }: Cluster): Promise<Quarrel> {
  const container = stays('main');
  const spec = { nodeName: NAME, automountServiceAccountToken: false, containers: [container] };
  await admin.create(PODS, { metadata: { name: POD }, spec: { ...spec, terminationGracePeriodSeconds: 1 } });
  const manifest = await writeStaticPod(node, { name: 'static', spec: { containers: [container] } });
  const isUp = (object: unknown) => isReady(object as Pod);
  await waitForObject(admin, { collection: PODS, name: MIRROR, what: 'Ready' }, isUp);
  return { manifest, pod: (await waitForObject(admin, { collection: PODS, name: POD, what: 'Ready' }, isUp)) as never };
}

/** Both go on as if nothing were; when the other one is gone, all is as it was, and no container was touched. */
async function endQuarrel({ admin }: Cluster, { pod, manifest }: Quarrel): Promise<void> {
  const ids = JSON.stringify(containerIds(pod));
  const isOwn = (object: unknown) => JSON.stringify(containerIds(object as Pod)) === ids && isReady(object as Pod);
  await waitForObject(admin, { collection: PODS, name: POD, what: 'as before' }, isOwn);
  const isUp = (object: unknown) => isReady(object as Pod);
  await waitForObject(admin, { collection: PODS, name: MIRROR, what: 'Ready' }, isUp);
  await rm(manifest);
  assert.equal((await admin.request(`${PODS}/${POD}`, { method: 'DELETE' })).status, 200);
  for (const name of [POD, MIRROR]) await waitUntilGone(admin, PODS, name);
}

async function untilSaid(read: () => Promise<string>, wanted: RegExp): Promise<void> {
  for (let look = 0; !wanted.test(await read()); look += 1) {
    assert.ok(look < 1200, `no one said ${wanted}`);
    await delay(100);
  }
}

export async function quarrels(cluster: Cluster): Promise<void> {
  const { kubelet } = cluster.node;
  const quarrel = await beginQuarrel(cluster);
  const own = (await getNode(cluster)).status?.nodeInfo?.machineID ?? '';
  const log = () => readFile(kubelet.logFile, 'utf8');
  const counting = new AbortController();
  let writes = 0;
  const counted = (async () => {
    for await (const { type } of cluster.admin.watch(PODS, counting.signal)) if (type !== 'BOOKMARK') writes += 1;
  })().catch(() => undefined); // ended by the signal
  const started = performance.now();
  {
    await using twin = await startTwin(cluster, 'twin');
    const conflict = (machine: string) =>
      new RegExp(`another kubelet writes the status of node .*node-1.*machine id ${machine} .* at 192\\.0\\.2\\.10`);
    await untilSaid(log, conflict(twin.machineId));
    await untilSaid(twin.log, conflict(own));
    const { message, type } = await untilEvent(cluster, 'NodeNameConflict');
    assert.match(
      message,
      /another kubelet writes the status of node "node-1": machine id .* every node needs its own name/,
    );
    assert.equal(type, 'Warning');
    assert.match((await untilEvent(cluster, 'NodeLeaseConflict')).message, /another kubelet renews the lease of node/);
    await untilSaid(log, /Another client keeps overwriting the status of a pod.*default\/quarrelled-about/);
    await untilSaid(log, /Another process keeps deleting a mirror pod.*static/);
    assert.equal(ready(await getNode(cluster))?.status, 'True');
  }
  const seconds = (performance.now() - started) / 1000;
  counting.abort();
  await counted;
  // Fifty a second would be possible.
  assert.ok(writes < 40 + 5 * seconds, `${writes} changes of two pods in ${seconds} s`);
  await untilNode(cluster, 'itself again', ({ status }) => status?.nodeInfo?.machineID === own);
  await endQuarrel(cluster, quarrel);
}

export async function quarrelsWithReference(cluster: Cluster): Promise<void> {
  const { kubelet } = cluster.node;
  const quarrel = await beginQuarrel(cluster);
  const own = (await getNode(cluster)).status?.nodeInfo?.machineID ?? '';
  {
    await using twin = await startTwin(cluster, 'twin-2', await createSupplies(process.env).referenceKubelet());
    const isTwins = ({ status }: KubeNode) => status?.nodeInfo?.machineID === twin.machineId;
    await untilNode(cluster, 'written by the twin', isTwins);
    await untilNode(cluster, 'written by us', (node) => !isTwins(node));
    assert.ok(kubelet.isRunning());
  }
  await untilNode(cluster, 'itself again', ({ status }) => status?.nodeInfo?.machineID === own);
  await endQuarrel(cluster, quarrel);
}
