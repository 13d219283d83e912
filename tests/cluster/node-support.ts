/** A node of a lab cluster as the API server has it, and what is told of it. */
import type { KubeNode } from '../../src/api/node.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { waitForObject } from '../lab/cluster/wait.ts';
import { until } from '../node/pod-support.ts';

export const NODES = '/api/v1/nodes';
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
export const NAME = 'node-1';

export const getNode = async (cluster: Cluster): Promise<KubeNode> =>
  (await cluster.admin.get(`${NODES}/${NAME}`)) as unknown as KubeNode;

export const ready = (node: KubeNode) => node.status?.conditions?.find(({ type }) => type === 'Ready');

export const untilNode = async (
  cluster: Cluster,
  what: string,
  isDone: (node: KubeNode) => boolean,
  timeoutMs?: number,
) =>
  (await waitForObject(
    cluster.admin,
    { collection: NODES, name: NAME, what, ...(timeoutMs && { timeoutMs }) },
    (object) => isDone(object as unknown as KubeNode),
  )) as unknown as KubeNode;

export interface ApiEvent {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
}

export async function nodeEvents(cluster: Cluster): Promise<readonly ApiEvent[]> {
  const { items } = (await cluster.admin.get('/api/v1/namespaces/default/events')) as { items?: readonly unknown[] };
  return ((items ?? []) as readonly ApiEvent[]).filter(({ involvedObject }) => involvedObject.kind === 'Node');
}

export async function untilEvent(cluster: Cluster, reason: string): Promise<ApiEvent> {
  const look = async () => (await nodeEvents(cluster)).find((event) => event.reason === reason);
  return await until(`event ${reason}`, look).catch((error: unknown) => {
    throw new Error(`no event ${reason}; the end of the log:\n${cluster.node.kubelet.logTail()}`, { cause: error });
  });
}
