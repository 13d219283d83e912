/** metrics-server reads our kubelet: `kubectl top` shows the numbers of the kernel, and an autoscaler acts on them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { BUSYBOX, until } from '../node/pod-support.ts';
import { IMPATIENT_AUTOSCALER, startMetricsServer } from './metrics-server.ts';
import { podCluster, stays } from './pods-support.ts';

const WAIT_MS = 180_000;
const MEBIBYTE = 1024 * 1024;

/** Rows of a table of kubectl's, without its heading; undefined while metrics are not available yet. */
async function top(cluster: Cluster, ...args: readonly string[]): Promise<readonly (readonly string[])[] | undefined> {
  const { code, stdout } = await cluster.runKubectl(['top', ...args, '--no-headers']);
  const rows = stdout.split('\n').filter((line) => line !== '');
  return code === 0 && rows.length > 0 ? rows.map((line) => line.trim().split(/\s+/)) : undefined;
}

/** A page cache that stays: what it takes is known, and nothing of it moves. */
const HOLDS =
  "dd if=/dev/zero of=/dev/shm/x bs=1M count=24 2>/dev/null; trap 'exit 0' TERM; while :; do sleep 1000 & wait $!; done";

async function showsPods(cluster: Cluster, uid: string): Promise<void> {
  const rows = await until(
    'both containers have metrics',
    async () => {
      const found = await top(cluster, 'pod', 'two', '--containers');
      return found?.length === 2 ? found : undefined;
    },
    WAIT_MS,
  );
  const byName = new Map(rows.map(([pod, container = '', cpu, memory]) => [container, { pod, cpu, memory }]));
  const holder = byName.get('holder');
  assert.match(`${holder?.pod} ${holder?.cpu}`, /^two \d+m$/);
  // It is read now and then: what is shown may be of the time before all was taken.
  await until(
    'the memory of the holder is what the kernel counts',
    async () => {
      const row = (await top(cluster, 'pod', 'two', '--containers'))?.find(([, container]) => container === 'holder');
      const shown = Number(row?.[3]?.replace('Mi', ''));
      return Math.abs(shown - (await workingSet(cluster, uid)) / MEBIBYTE) <= 1 ? true : undefined;
    },
    WAIT_MS,
  );
  assert.match(byName.get('idle')?.memory ?? '', /^\d+Mi$/);
}

/** What all containers of the pod but the idle ones need: the largest is the one that holds 24 MiB. */
async function workingSet({ node }: Cluster, uid: string): Promise<number> {
  const pod = `/sys/fs/cgroup/memory/${node.world.cgroup}/kubepods/besteffort/pod${uid}`;
  const { stdout } = await node.exec(['sh', '-c', `ls -d /sys/fs/cgroup/memory/kubepods/besteffort/pod${uid}/*/`]);
  const sizes = stdout
    .trim()
    .split('\n')
    .map(async (directory) => {
      const id = directory.replace(/\/$/, '').split('/').at(-1);
      const usage = Number(await readFile(`${pod}/${id}/memory.usage_in_bytes`, 'utf8'));
      const stat = await readFile(`${pod}/${id}/memory.stat`, 'utf8');
      return usage - Number(/^total_inactive_file (\d+)$/m.exec(stat)?.[1]);
    });
  return Math.max(...(await Promise.all(sizes)));
}

async function showsTheNode(cluster: Cluster): Promise<void> {
  const rows = await until('the node has metrics', () => top(cluster, 'node'), WAIT_MS);
  const [[name, cpu, share, memory] = []] = rows;
  assert.equal(name, cluster.node.nodeName);
  assert.match(`${cpu} ${share} ${memory}`, /^\d+m \d+% \d+Mi$/);
  assert.ok(Number.parseInt(cpu ?? '', 10) > 0 && Number.parseInt(memory ?? '', 10) > 0, rows.join());
}

/** Twice the CPU that is asked for is twice the pods, up to the most that are allowed. */
async function scales(cluster: Cluster): Promise<void> {
  const labels = { app: 'busy' };
  const container = {
    name: 'main',
    image: BUSYBOX,
    command: ['sh', '-c', "trap 'exit 0' TERM; while :; do :; done"],
    resources: { requests: { cpu: '20m' }, limits: { cpu: '60m' } },
  };
  const spec = { terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers: [container] };
  await cluster.admin.create('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'busy' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  await cluster.kubectl('autoscale', 'deployment', 'busy', '--cpu=50%', '--min=1', '--max=2');
  await until(
    'the autoscaler has made a second pod',
    async () => {
      const { status } = await cluster.admin.get('/apis/apps/v1/namespaces/default/deployments/busy');
      return (status as { readonly readyReplicas?: number }).readyReplicas === 2 ? true : undefined;
    },
    WAIT_MS,
  );
  const seen = await cluster.kubectl('get', 'hpa', 'busy', '--no-headers');
  assert.match(seen, /cpu: \d+%\/50%/);
}

test('metrics-server', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const pods = await podCluster(t, { controlPlaneFlags: { 'kube-controller-manager': IMPATIENT_AUTOSCALER } });
  const { cluster } = pods;
  const holder = { name: 'holder', image: BUSYBOX, command: ['sh', '-c', HOLDS] };
  const { metadata } = await pods.create('two', { containers: [holder, stays('idle')] });
  await pods.ready('two');
  await startMetricsServer(cluster);
  const scaling = scales(cluster);
  await t.test('shows the node', () => showsTheNode(cluster));
  await t.test('shows containers as the kernel counts them', () => showsPods(cluster, metadata.uid));
  await t.test('lets an autoscaler act', () => scaling);
});
