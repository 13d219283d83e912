/** What the lab can ask for, and where each of it comes from. Versions are not here: the go.mod files pin them. */
import { join } from 'node:path';

/** A directory of ours with a go.mod and a go.sum, and the flags with which everything in it is built. */
export interface GoModule {
  readonly name: string;
  readonly directory: string;
  /** The required module whose version in go.mod is the version of the binaries. */
  readonly versionOf: string;
  readonly cgo: boolean;
  readonly tags: readonly string[];
  /** Linker settings (`-X variable=value`) that make the binaries tell their version. */
  readonly stamps: (version: string) => readonly string[];
  /** Debian packages that the build needs. */
  readonly buildPackages: readonly string[];
}

export interface GoBinary {
  readonly from: 'go';
  readonly module: GoModule;
  readonly goPackage: string;
  readonly file: string;
  /** `test`: the package's tests, compiled into a program of their own. */
  readonly mode: 'build' | 'test';
}

export interface DebianBinary {
  readonly from: 'debian';
  readonly debianPackage: string;
  readonly path: string;
}

/** Only unpacked, into the cache: installed, it would be in the way of another program of the same name. */
export interface UnpackedBinary {
  readonly from: 'debian-unpacked';
  readonly debianPackage: string;
  /** Inside the package. */
  readonly path: string;
}

export type Source = GoBinary | DebianBinary | UnpackedBinary;
export type Catalog<N extends string> = Readonly<Record<N, Source>>;

const GO_DIRECTORY = join(import.meta.dirname, 'go');

const runc: GoModule = {
  name: 'runc',
  directory: join(GO_DIRECTORY, 'runc'),
  versionOf: 'github.com/opencontainers/runc',
  cgo: true,
  tags: ['seccomp'],
  stamps: () => [], // carries its version in its source
  buildPackages: ['gcc', 'libc6-dev', 'libseccomp-dev', 'pkg-config'],
};

const containerd: GoModule = {
  name: 'containerd',
  directory: join(GO_DIRECTORY, 'containerd'),
  versionOf: 'github.com/containerd/containerd/v2',
  cgo: false,
  tags: ['no_btrfs', 'no_zfs'],
  stamps: (version) => [`github.com/containerd/containerd/v2/version.Version=${version}`],
  buildPackages: [],
};

const etcd: GoModule = {
  name: 'etcd',
  directory: join(GO_DIRECTORY, 'etcd'),
  versionOf: 'go.etcd.io/etcd/server/v3',
  cgo: false,
  tags: [],
  stamps: () => [], // carries its version in its source
  buildPackages: [],
};

const kubernetes: GoModule = {
  name: 'kubernetes',
  directory: join(GO_DIRECTORY, 'kubernetes'),
  versionOf: 'k8s.io/kubernetes',
  cgo: false,
  tags: [],
  stamps: stampKubernetes,
  buildPackages: [],
};

/** A module of its own: a new program in the list of a module gives all of that module a new place, and each would be built again. */
const nodeSuite: GoModule = { ...kubernetes, name: 'node-suite', directory: join(GO_DIRECTORY, 'node-suite') };

const metricsServer: GoModule = {
  name: 'metrics-server',
  directory: join(GO_DIRECTORY, 'metrics-server'),
  versionOf: 'sigs.k8s.io/metrics-server',
  cgo: false,
  tags: [],
  stamps: (version) => [`k8s.io/client-go/pkg/version.gitVersion=${version}`],
  buildPackages: [],
};

/** Servers tell their version from the first package, the user agents of clients come from the second. */
function stampKubernetes(version: string): readonly string[] {
  const [major, minor] = version.replace(/^v/, '').split('.');
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((place) => [
    `${place}.gitVersion=${version}`,
    `${place}.gitMajor=${major}`,
    `${place}.gitMinor=${minor}`,
    `${place}.gitCommit=unknown`,
    `${place}.gitTreeState=archive`,
  ]);
}

function built(module: GoModule, goPackage: string, file: string, mode: GoBinary['mode'] = 'build'): GoBinary {
  return { from: 'go', module, goPackage, file, mode };
}

function fromDebian(debianPackage: string, path: string): DebianBinary {
  return { from: 'debian', debianPackage, path };
}

const CONTAINERD = 'github.com/containerd/containerd/v2/cmd';
const KUBERNETES = 'k8s.io/kubernetes';

export const labCatalog = {
  containerd: built(containerd, `${CONTAINERD}/containerd`, 'containerd'),
  'containerd-shim-runc-v2': built(containerd, `${CONTAINERD}/containerd-shim-runc-v2`, 'containerd-shim-runc-v2'),
  ctr: built(containerd, `${CONTAINERD}/ctr`, 'ctr'),
  runc: built(runc, 'github.com/opencontainers/runc', 'runc'),
  etcd: built(etcd, 'go.etcd.io/etcd/server/v3', 'etcd'),
  'kube-apiserver': built(kubernetes, `${KUBERNETES}/cmd/kube-apiserver`, 'kube-apiserver'),
  'kube-controller-manager': built(kubernetes, `${KUBERNETES}/cmd/kube-controller-manager`, 'kube-controller-manager'),
  'kube-scheduler': built(kubernetes, `${KUBERNETES}/cmd/kube-scheduler`, 'kube-scheduler'),
  kubectl: built(kubernetes, `${KUBERNETES}/cmd/kubectl`, 'kubectl'),
  'kubelet-reference': built(kubernetes, `${KUBERNETES}/cmd/kubelet`, 'kubelet'),
  kubeadm: built(kubernetes, `${KUBERNETES}/cmd/kubeadm`, 'kubeadm'),
  agnhost: built(kubernetes, `${KUBERNETES}/test/images/agnhost`, 'agnhost'),
  ginkgo: built(kubernetes, 'github.com/onsi/ginkgo/v2/ginkgo', 'ginkgo'),
  'e2e.test': built(kubernetes, `${KUBERNETES}/test/e2e`, 'e2e.test', 'test'),
  'e2e_node.test': built(nodeSuite, `${KUBERNETES}/test/e2e_node`, 'e2e_node.test', 'test'),
  'sample-device-plugin': built(nodeSuite, `${KUBERNETES}/test/images/sample-device-plugin`, 'sample-device-plugin'),

  'metrics-server': built(metricsServer, 'sigs.k8s.io/metrics-server/cmd/metrics-server', 'metrics-server'),

  'debian-containerd': fromDebian('containerd', '/usr/bin/containerd'),
  'debian-containerd-shim-runc-v2': fromDebian('containerd', '/usr/bin/containerd-shim-runc-v2'),
  'debian-ctr': fromDebian('containerd', '/usr/bin/ctr'),
  'debian-runc': fromDebian('runc', '/usr/sbin/runc'),
  'debian-kubectl': { from: 'debian-unpacked', debianPackage: 'kubernetes-client', path: 'usr/bin/kubectl' },
  /** A directory: bridge, host-local, portmap, loopback and the rest are in it. */
  'cni-plugins': fromDebian('containernetworking-plugins', '/usr/lib/cni'),
  'docker-registry': fromDebian('docker-registry', '/usr/bin/docker-registry'),
  busybox: fromDebian('busybox-static', '/bin/busybox'),
  catatonit: fromDebian('catatonit', '/usr/bin/catatonit'),
  iptables: fromDebian('iptables', '/usr/sbin/iptables'),
  /** Unpacked: installed, they would begin to run as services. */
  prometheus: { from: 'debian-unpacked', debianPackage: 'prometheus', path: 'usr/bin/prometheus' },
  promtool: { from: 'debian-unpacked', debianPackage: 'prometheus', path: 'usr/bin/promtool' },
  nginx: fromDebian('nginx', '/usr/sbin/nginx'),
  chromium: fromDebian('chromium', '/usr/bin/chromium'),
  skopeo: fromDebian('skopeo', '/usr/bin/skopeo'),
} as const satisfies Catalog<string>;

export type BinaryName = keyof typeof labCatalog;

export function isBinaryName(name: string): name is BinaryName {
  return Object.hasOwn(labCatalog, name);
}
