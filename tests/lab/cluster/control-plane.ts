/** The control plane of Kubernetes inside a world: four real programs, their keys, and a way to talk to them. */
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Gate } from '../../../tools/machine/gate.ts';
import { NODE_ADDRESS, type World } from '../../../tools/machine/world.ts';
import { type Api, createApi } from './api.ts';
import { type BootstrapToken, bootstrapObjects, createBootstrapToken } from './bootstrap.ts';
import { type Component, createComponent } from './component.ts';
import {
  API_PORT,
  apiServerNames,
  type ComponentFlags,
  type ComponentName,
  componentArgs,
  HEALTH,
  type Layout,
} from './components.ts';
import { type Credentials, writeKubeconfig } from './kubeconfig.ts';
import { type ClusterPki, createClusterPki } from './pki.ts';
import { waitUntilServed } from './serving-certificate.ts';
import { waitForObject } from './wait.ts';

export interface ControlPlaneOptions {
  readonly world: Pick<World, 'directory' | 'start'>;
  readonly gate: Gate;
  readonly binaries: Readonly<Record<ComponentName, string>>;
  readonly flags?: ComponentFlags;
}

export interface ControlPlane {
  readonly components: Readonly<Record<ComponentName, Component>>;
  readonly pki: ClusterPki;
  /** The API server as everything inside the world calls it. */
  readonly server: string;
  /** Lets a node join: see bootstrap.ts. */
  readonly bootstrapToken: BootstrapToken;
  /** As a member of system:masters. */
  readonly admin: Api;
  readonly adminKubeconfig: string;
  /** The API as somebody else sees it. Closed with the control plane. */
  apiAs(credentials: Credentials): Promise<Api>;
  /** A kubeconfig file for use inside the world; gives its path. */
  kubeconfigFor(name: string, credentials: Credentials): Promise<string>;
  /** Gives the API server a new pair under the same names, while it runs, and waits until it shows it. */
  renewServingCertificate(): Promise<void>;
  /** Lets go of the connections of this process. The programs end with their world. */
  close(): void;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { world, gate } = options;
  const directory = join(world.directory, 'cluster');
  await mkdir(directory, { recursive: true });
  const pki = await createClusterPki({ dir: join(directory, 'pki'), serverNames: apiServerNames(NODE_ADDRESS) });
  const server = `https://${NODE_ADDRESS}:${API_PORT}`;
  const kubeconfigFor = (name: string, credentials: Credentials) =>
    writeKubeconfig({ path: join(directory, `${name}.kubeconfig`), server, ca: pki.ca.cert, credentials });
  const layout: Layout = {
    address: NODE_ADDRESS,
    etcdDir: join(directory, 'etcd'),
    pki,
    kubeconfigs: {
      controllerManager: await kubeconfigFor('controller-manager', pki.controllerManager),
      scheduler: await kubeconfigFor('scheduler', pki.scheduler),
    },
  };
  const apis: Api[] = [];
  const apiAs = async (credentials: Credentials) => {
    const connect = () => gate.connect(NODE_ADDRESS, API_PORT);
    const api = await createApi({ connect, ca: pki.ca.cert, credentials });
    apis.push(api);
    return api;
  };
  const components = createComponents(options, layout);
  const admin = await apiAs(pki.admin);
  const bootstrapToken = createBootstrapToken('lab000', 'labtoken00000000');
  await startInOrder(components, admin, bootstrapToken);
  return {
    components,
    pki,
    server,
    bootstrapToken,
    admin,
    adminKubeconfig: await kubeconfigFor('admin', pki.admin),
    apiAs,
    kubeconfigFor,
    renewServingCertificate: async () => {
      const { cert } = await pki.issueApiServer();
      const endpoint = { address: NODE_ADDRESS, port: API_PORT };
      await waitUntilServed(gate, endpoint, new X509Certificate(await readFile(cert)));
    },
    close: () => {
      for (const api of apis) api.close();
    },
  };
}

/**
 * The API server waits for etcd by itself, so both start at once. The others would end with an error before the API server has made
 * the roles that give them their rights: they wait for its readiness.
 */
async function startInOrder(
  components: ControlPlane['components'],
  admin: Api,
  bootstrapToken: BootstrapToken,
): Promise<void> {
  await Promise.all([components.etcd.start(), components['kube-apiserver'].start()]);
  const roles = bootstrapObjects(bootstrapToken).map(({ path, object }) => admin.create(path, object));
  await Promise.all([
    components['kube-controller-manager'].start(),
    components['kube-scheduler'].start(),
    ...roles,
    waitUntilPodsAreAccepted(admin),
  ]);
}

/** A pod is refused until its namespace has a service account, and does not start before the root certificate is published there. */
async function waitUntilPodsAreAccepted(api: Api): Promise<void> {
  const there = (kind: string) => ({ collection: `/api/v1/namespaces/default/${kind}`, what: 'made' });
  await Promise.all([
    waitForObject(api, { ...there('serviceaccounts'), name: 'default' }, () => true),
    waitForObject(api, { ...there('configmaps'), name: 'kube-root-ca.crt' }, () => true),
  ]);
}

function createComponents(options: ControlPlaneOptions, layout: Layout): ControlPlane['components'] {
  const create = (name: ComponentName): Component =>
    createComponent({
      name,
      launch: () =>
        options.world.start({
          name,
          argv: [options.binaries[name], ...componentArgs(name, layout), ...(options.flags?.[name] ?? [])],
        }),
      isHealthy: () => looksHealthy(options.gate, HEALTH[name]),
    });
  return {
    etcd: create('etcd'),
    'kube-apiserver': create('kube-apiserver'),
    'kube-controller-manager': create('kube-controller-manager'),
    'kube-scheduler': create('kube-scheduler'),
  };
}

const HEALTH_TIMEOUT_MS = 2000;

async function looksHealthy(gate: Gate, url: string): Promise<boolean> {
  // Controller manager and scheduler make a certificate of their own at every start: there is nothing to check it with.
  const options = { tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) };
  return await gate.request(url, options).then(
    ({ status }) => status === 200,
    () => false,
  );
}
