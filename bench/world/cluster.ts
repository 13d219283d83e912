/** A cluster of the lab whose one node is driven by kubelets in turn. */
import type { Cluster } from '../../tests/lab/cluster/cluster.ts';
import { waitForObject } from '../../tests/lab/cluster/wait.ts';
import { lab } from '../../tests/lab/lab.ts';
import type { RuntimeName } from '../../tests/lab/supplies.ts';
import type { Size } from '../size.ts';
import { PODS } from './api-pods.ts';
import { type BenchNode, clearNode, closeNode, createBenchNode, type Stage, underTest } from './node.ts';
import { RUNTIME_METRICS_CONFIG } from './runtime-calls.ts';

export interface BenchCluster extends BenchNode {
  readonly cluster: Cluster;
  /** Waits for a status of the node that is Ready and was made after this moment (wall clock); only that is the kubelet's own word. */
  untilNodeReady(sinceMs: number): Promise<void>;
}

export async function openCluster(runtime: RuntimeName, size: Size): Promise<Stage<BenchCluster>> {
  const cluster = await lab.cluster({ kubelet: 'none', runtime, containerdConfig: RUNTIME_METRICS_CONFIG });
  const { node } = cluster;
  const world: BenchCluster = {
    ...createBenchNode(node, size),
    cluster,
    untilNodeReady: (sinceMs) => untilNodeReady(cluster, sinceMs),
  };
  return {
    world,
    kubelet: (contestant) => {
      const kubelet = underTest(node, contestant, cluster.kubeletSettings);
      return {
        ...kubelet,
        start: async (config) => {
          const since = Date.now();
          const ms = await kubelet.start(config);
          await world.untilNodeReady(since);
          return ms;
        },
      };
    },
    clear: async () => {
      await clearNode(world);
      await forgetPods(cluster);
    },
    [Symbol.asyncDispose]: async () => {
      await closeNode(world);
      await cluster[Symbol.asyncDispose]();
    },
  };
}

interface NodeObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastHeartbeatTime: string;
    }[];
  };
}

const NODE_READY_DEADLINE_MS = 60_000;

async function untilNodeReady({ admin, node }: Cluster, sinceMs: number): Promise<void> {
  const earliest = Math.floor(sinceMs / 1000) * 1000; // times in the API are whole seconds
  const wanted = {
    collection: '/api/v1/nodes',
    name: node.nodeName,
    what: 'Ready by a status of its kubelet',
    timeoutMs: NODE_READY_DEADLINE_MS,
  };
  await waitForObject(admin, wanted, (object) => {
    const ready = (object as NodeObject).status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'True' && Date.parse(ready.lastHeartbeatTime) >= earliest;
  });
}

/** Pods that a kubelet did not get to end: they are gone from the runtime already. */
async function forgetPods({ admin }: Cluster): Promise<void> {
  const list = await admin.get(PODS);
  const items = list['items'] as readonly { metadata: { name: string } }[];
  for (const { metadata } of items) {
    const path = `${PODS}/${metadata.name}?gracePeriodSeconds=0`;
    const { status, text } = await admin.request(path, { method: 'DELETE' });
    if (status >= 300 && status !== 404) throw new Error(`DELETE ${path}: ${status} ${text.trim()}`);
  }
}
