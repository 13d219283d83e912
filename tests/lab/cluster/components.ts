/** The command lines of the control plane: what a cluster of ours consists of, in one place. */
import type { ClusterPki } from './pki.ts';

export const COMPONENTS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** Added at the end of a component's command line, where the last of two equal flags wins. */
export type ComponentFlags = Readonly<Partial<Record<ComponentName, readonly string[]>>>;

export const API_PORT = 6443;
/** Virtual addresses of Services; nothing routes them, as no proxy runs in the lab. */
const SERVICE_RANGE = '10.96.0.0/16';
/** The first address of the range, which the API server gives to its own Service. */
const API_SERVICE_ADDRESS = '10.96.0.1';
const ETCD_CLIENT = 'http://127.0.0.1:2379';
const ETCD_PEER = 'http://127.0.0.1:2380';

export interface Layout {
  /** The address inside the world's network namespace. */
  readonly address: string;
  readonly etcdDir: string;
  readonly pki: ClusterPki;
  readonly kubeconfigs: { readonly controllerManager: string; readonly scheduler: string };
}

/** Every name under which a client inside the world may call the API server. */
export function apiServerNames(address: string): readonly string[] {
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  return [...service, 'localhost', '127.0.0.1', API_SERVICE_ADDRESS, address];
}

/** Where each component says that it works. The answers need no credentials. */
export const HEALTH: Readonly<Record<ComponentName, string>> = {
  etcd: `${ETCD_CLIENT}/readyz`,
  'kube-apiserver': `https://127.0.0.1:${API_PORT}/readyz`,
  'kube-controller-manager': 'https://127.0.0.1:10257/healthz',
  'kube-scheduler': 'https://127.0.0.1:10259/healthz',
};

export function componentArgs(name: ComponentName, layout: Layout): readonly string[] {
  switch (name) {
    case 'etcd':
      return etcdArgs(layout);
    case 'kube-apiserver':
      return apiServerArgs(layout);
    case 'kube-controller-manager':
      return controllerManagerArgs(layout);
    case 'kube-scheduler':
      return schedulerArgs(layout);
  }
}

function etcdArgs({ etcdDir }: Layout): readonly string[] {
  return [
    '--name=lab',
    `--data-dir=${etcdDir}`,
    '--unsafe-no-fsync', // the world goes away anyway, and a sync costs more than everything else that etcd does here
    `--listen-client-urls=${ETCD_CLIENT}`,
    `--advertise-client-urls=${ETCD_CLIENT}`,
    `--listen-peer-urls=${ETCD_PEER}`,
    `--initial-advertise-peer-urls=${ETCD_PEER}`,
    `--initial-cluster=lab=${ETCD_PEER}`,
    '--log-level=warn',
  ];
}

function apiServerArgs({ address, pki }: Layout): readonly string[] {
  return [
    `--etcd-servers=${ETCD_CLIENT}`,
    '--bind-address=0.0.0.0',
    `--advertise-address=${address}`,
    `--secure-port=${API_PORT}`,
    `--tls-cert-file=${pki.apiServer.cert}`,
    `--tls-private-key-file=${pki.apiServer.key}`,
    `--client-ca-file=${pki.ca.cert}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pki.serviceAccount.publicKey}`,
    `--service-account-signing-key-file=${pki.serviceAccount.privateKey}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    `--kubelet-client-certificate=${pki.kubeletClient.cert}`,
    `--kubelet-client-key=${pki.kubeletClient.key}`,
    '--kubelet-preferred-address-types=InternalIP', // node names are not in any DNS here
    `--proxy-client-cert-file=${pki.frontProxyClient.cert}`,
    `--proxy-client-key-file=${pki.frontProxyClient.key}`,
    `--requestheader-client-ca-file=${pki.frontProxyCa.cert}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--allow-privileged=true',
  ];
}

function controllerManagerArgs({ pki, kubeconfigs }: Layout): readonly string[] {
  return [
    ...delegatedArgs(kubeconfigs.controllerManager),
    `--root-ca-file=${pki.ca.cert}`,
    `--service-account-private-key-file=${pki.serviceAccount.privateKey}`,
    '--use-service-account-credentials=true',
    `--cluster-signing-cert-file=${pki.ca.cert}`,
    `--cluster-signing-key-file=${pki.ca.key}`,
    '--controllers=*,bootstrapsigner,tokencleaner',
  ];
}

function schedulerArgs({ kubeconfigs }: Layout): readonly string[] {
  return delegatedArgs(kubeconfigs.scheduler);
}

function delegatedArgs(kubeconfig: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    '--leader-elect=false', // there is only one; an election would cost seconds at every start
    // The default limits are for sparing a big API server: they cost 4 s at the start, and would be what a burst of pods measures.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ];
}
