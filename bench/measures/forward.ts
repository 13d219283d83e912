/** How fast bytes go through `kubectl port-forward`: client, API server, kubelet, runtime, and back. */
import { join } from 'node:path';
import { waitForObject } from '../../tests/lab/cluster/wait.ts';
import { createSupplies } from '../../tests/lab/supplies.ts';
import { clusterMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { PODS } from '../world/api-pods.ts';
import type { BenchCluster } from '../world/cluster.ts';

const MEGABYTES = 100;
const TIMES = 3;
const PORT = 17_007;
const PROGRAM = join(import.meta.dirname, '..', 'world', 'echo-main.ts');
const FORWARDS_WITHIN_MS = 120_000;

export const forward = clusterMeasure({
  name: 'forward',
  about: `${MEGABYTES} MB through kubectl port-forward to a server that sends them back`,
  needs: 'logs',
  mostRounds: 2,
  figures: { speed: { text: 'port-forward, there and back', unit: 'MB/s', better: 'more' } },
  run: async (kubelet, world) => {
    const { node, adminKubeconfig } = world.cluster;
    await kubelet.start();
    const name = await runEcho(world);
    const { kubectl } = await createSupplies(process.env).ensure('kubectl');
    const argv = [kubectl, `--kubeconfig=${adminKubeconfig}`, 'port-forward', name, `${PORT}:7`];
    const part = await node.start({ name: `forward-${name}`, argv });
    try {
      await part.waitForLog(/Forwarding from 127/, FORWARDS_WITHIN_MS);
      const speeds: number[] = [];
      for (let left = world.size.times(TIMES); left > 0; left -= 1) speeds.push(await timeEcho(world));
      return { speed: median(speeds) };
    } finally {
      await part.stop();
    }
  },
});

async function runEcho({ cluster, podName }: BenchCluster): Promise<string> {
  const name = podName();
  const container = { name: 'main', image: 'lab.local/testserver:1', args: ['-tcp=:7'] };
  const spec = { nodeName: cluster.node.nodeName, terminationGracePeriodSeconds: 0, containers: [container] };
  await cluster.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  await waitForObject(cluster.admin, { collection: PODS, name, what: 'running' }, (object) => {
    return (object.status as { readonly phase?: string } | undefined)?.phase === 'Running';
  });
  return name;
}

/** MB/s, counted once although they go both ways. */
async function timeEcho({ cluster, size }: BenchCluster): Promise<number> {
  const megabytes = size.times(MEGABYTES);
  const { code, stdout, stderr } = await cluster.node.exec([
    process.execPath,
    PROGRAM,
    String(PORT),
    String(megabytes),
  ]);
  if (code !== 0) throw new Error(`port-forward: ${stderr.trim()}`);
  return (megabytes * 1000) / Number(stdout);
}
