/**
 * A whole small cluster in one sealed world: a real control plane, and a node that is joined to it.
 *
 *   await using cluster = await lab.cluster({ kubelet: 'reference', test: t });
 *   await cluster.kubectl('run', 'web', '--image=lab.local/busybox:1');
 */
import { join } from 'node:path';
import type { Captured, CaptureOptions } from '../../../tools/machine/capture.ts';
import type { KubeletSettings } from '../../../tools/machine/kubelet.ts';
import type { BinaryName } from '../binaries/catalog.ts';
import type { LabNode, LabNodeOptions } from '../lab.ts';
import type { Api } from './api.ts';
import { COMPONENTS, type ComponentFlags } from './components.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import type { KeyPair } from './pki.ts';
import { waitForObject } from './wait.ts';

export interface ClusterOptions extends LabNodeOptions {
  /** How the kubelet gets in: with a client certificate made beforehand (default), or with a bootstrap token. */
  readonly join?: 'certificate' | 'token';
  /** More flags for parts of the control plane. */
  readonly controlPlaneFlags?: ComponentFlags;
}

export interface Cluster extends ControlPlane, AsyncDisposable {
  readonly node: LabNode;
  /** A client certificate of the node, also where it joined with a token. */
  readonly nodeCredentials: KeyPair;
  /** What makes a kubelet join: for a test that starts one by itself (`kubelet: 'none'`). */
  readonly kubeletSettings: Pick<KubeletSettings, 'config' | 'flags'>;
  /** Starts a kubelet that was left out (`kubelet: 'none'`), with these fields over those of the options, and waits until its node is Ready. */
  joinKubelet(choice: 'ours' | 'reference', config?: Readonly<Record<string, unknown>>): Promise<void>;
  /** kubectl as the administrator, inside the world. Fails where kubectl does, with its words. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** The same with everything that can be said about it; the exit code is part of the answer. */
  runKubectl(args: readonly string[], options?: CaptureOptions): Promise<Captured>;
  /** Resolves when the node is Ready and takes pods. */
  waitUntilNodeReady(): Promise<void>;
}

export interface ClusterDeps {
  node(options: LabNodeOptions): Promise<LabNode>;
  kubeletBinary(choice: LabNodeOptions['kubelet']): Promise<string>;
  ensure<N extends BinaryName>(...names: readonly N[]): Promise<Record<N, string>>;
}

export async function startCluster(deps: ClusterDeps, options: ClusterOptions = {}): Promise<Cluster> {
  const choice = options.kubelet ?? 'ours';
  const [binaries, kubeletBinary] = await Promise.all([
    deps.ensure(...COMPONENTS, 'kubectl'),
    deps.kubeletBinary(choice),
  ]);
  const node = await deps.node({ ...options, kubelet: 'none' });
  try {
    const plane = await startControlPlane({
      world: node.world,
      gate: node.gate,
      binaries,
      ...(options.controlPlaneFlags === undefined ? {} : { flags: options.controlPlaneFlags }),
    });
    const cluster = await furnish({ plane, node, kubectl: binaries.kubectl, options, deps });
    if (choice !== 'none') await joinNode(cluster, kubeletBinary);
    return cluster;
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
}

type Joining = Pick<Cluster, 'node' | 'kubeletSettings' | 'waitUntilNodeReady'>;

async function joinNode(cluster: Joining, binary: string, config: Readonly<Record<string, unknown>> = {}) {
  const { kubelet } = cluster.node;
  const { kubeletSettings: settings } = cluster;
  await kubelet.start({ binary, ...settings, config: { ...settings.config, ...config } });
  try {
    await cluster.waitUntilNodeReady();
  } catch (cause) {
    throw new Error(`${binary} did not join the cluster; the end of its log:\n${kubelet.logTail()}\n`, { cause });
  }
}

async function furnish(given: {
  plane: ControlPlane;
  node: LabNode;
  kubectl: string;
  options: ClusterOptions;
  deps: Pick<ClusterDeps, 'kubeletBinary'>;
}): Promise<Cluster> {
  const { plane, node, options, deps } = given;
  const nodeCredentials = await plane.pki.issueNode(node.nodeName);
  const joinFlags =
    options.join === 'token'
      ? await tokenFlags(plane, node)
      : [`--kubeconfig=${await plane.kubeconfigFor(`node-${node.nodeName}`, nodeCredentials)}`];
  const runKubectl: Cluster['runKubectl'] = (args, captureOptions) =>
    node.exec([given.kubectl, `--kubeconfig=${plane.adminKubeconfig}`, ...args], captureOptions);
  const joining: Joining = {
    node,
    kubeletSettings: {
      config: { ...securedConfig(plane), ...options.config },
      flags: [...joinFlags, ...(options.flags ?? [])],
    },
    waitUntilNodeReady: () => waitUntilNodeReady(plane.admin, node.nodeName),
  };
  return {
    ...plane,
    ...joining,
    nodeCredentials,
    joinKubelet: async (choice, config) => joinNode(joining, await deps.kubeletBinary(choice), config),
    runKubectl,
    kubectl: async (...args) => {
      const { code, stdout, stderr } = await runKubectl(args);
      if (code !== 0)
        throw new Error(`kubectl ${args.join(' ')}: exit code ${code}: ${stderr.trim() || stdout.trim()}`);
      return stdout;
    },
    [Symbol.asyncDispose]: async () => {
      plane.close();
      await node[Symbol.asyncDispose]();
    },
  };
}

/** The kubelet writes the second file itself, when the certificate that it asked for is signed. */
async function tokenFlags(plane: ControlPlane, node: LabNode): Promise<readonly string[]> {
  const bootstrap = await plane.kubeconfigFor('bootstrap', { token: plane.bootstrapToken.token });
  return [`--bootstrap-kubeconfig=${bootstrap}`, `--kubeconfig=${join(node.kubeletDirectory, 'kubeconfig')}`];
}

/** As kubeadm sets a kubelet up: no one gets in whom the cluster doesn't know. */
function securedConfig({ pki }: ControlPlane): Readonly<Record<string, unknown>> {
  return {
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pki.ca.cert },
    },
    authorization: { mode: 'Webhook' },
    readOnlyPort: 0,
    clusterDomain: 'cluster.local',
    // No DNS server runs in the lab: the address is only what pods find in their resolv.conf.
    clusterDNS: ['10.96.0.10'],
  };
}

interface NodeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The controller manager takes the not-ready taint away a moment after the node has become Ready. */
async function waitUntilNodeReady(api: Api, name: string): Promise<void> {
  await waitForObject(
    api,
    { collection: '/api/v1/nodes', name, what: 'Ready and without the not-ready taint' },
    (object) => {
      const { spec, status } = object as NodeObject;
      const ready =
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
      return ready && !(spec?.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/not-ready');
    },
  );
}
