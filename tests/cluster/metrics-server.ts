/** metrics-server in a cluster of the lab: the real program, with the rights of its own manifest, behind the aggregation layer. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../../tools/machine/part.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { createSupplies } from '../lab/supplies.ts';

const NAME = 'metrics-server';
const NAMESPACE = 'kube-system';
const PORT = 4443;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** For controllers that look at metrics at once: those of a start in production wait for minutes. */
export const IMPATIENT_AUTOSCALER = [
  '--horizontal-pod-autoscaler-sync-period=1s',
  '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
];

export async function startMetricsServer(cluster: Cluster): Promise<Part> {
  const { admin, node } = cluster;
  const { 'metrics-server': program } = await createSupplies(process.env).ensure(NAME);
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }];
  const apiGroup = 'rbac.authorization.k8s.io';
  await admin.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: NAME } });
  await admin.create(`${RBAC}/clusterroles`, {
    metadata: { name: NAME },
    rules: [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  });
  for (const role of [NAME, 'system:auth-delegator']) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: role };
    await admin.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: `${NAME}:${role}` },
      subjects,
      roleRef,
    });
  }
  await admin.create(`${RBAC}/namespaces/${NAMESPACE}/rolebindings`, {
    metadata: { name: NAME },
    subjects,
    roleRef: { apiGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
  });
  const token = await admin.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${NAME}/token`, { spec: {} });
  const credentials = { token: (token.status as { readonly token: string }).token };
  const kubeconfig = await cluster.kubeconfigFor(NAME, credentials);
  const directory = join(node.world.directory, NAME);
  await mkdir(directory, { recursive: true });
  const part = await node.start({
    name: NAME,
    argv: [
      program,
      ...['', 'authentication-', 'authorization-'].map((kind) => `--${kind}kubeconfig=${kubeconfig}`),
      '--bind-address=127.0.0.1',
      `--secure-port=${PORT}`,
      `--cert-dir=${directory}`,
      '--kubelet-insecure-tls', // the kubelet of a lab cluster signs its own certificate
      '--kubelet-preferred-address-types=InternalIP',
      '--metric-resolution=10s', // the shortest that it takes
      '--kubelet-request-timeout=9s', // must be shorter
    ],
  });
  // The API server looks again only some time after it found no one there.
  await part.waitForLog(/Serving securely/, 120_000);
  await publishApi(cluster);
  return part;
}

/** No proxy routes the addresses of Services here: the API server calls the program by name. */
async function publishApi({ admin }: Cluster): Promise<void> {
  await admin.create(`/api/v1/namespaces/${NAMESPACE}/services`, {
    metadata: { name: NAME },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ name: 'https', port: PORT }] },
  });
  await admin.create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: NAME, namespace: NAMESPACE, port: PORT },
    },
  });
}
