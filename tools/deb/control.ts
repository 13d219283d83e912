/** What the Debian package says of itself. */

export interface PackageFacts {
  readonly version: string;
  /** Of Kubernetes, `v1.36.4`: what packages that need a kubelet ask for. */
  readonly kubernetes: string;
  readonly architecture: string;
  readonly installedKib: number;
}

/** Processor names of Node, as Debian and release files write them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export const debianArchitecture = (processor: string): string => ARCHITECTURES[processor] ?? processor;

/** It takes the place of the package `kubelet`, and is one for whoever depends on it: kubeadm's package does. */
export function renderControl({ version, kubernetes, architecture, installedKib }: PackageFacts): string {
  const served = kubernetes.replace(/^v/, '');
  return `Package: kubelet-ts
Version: ${version}
Architecture: ${architecture}
Maintainer: kubelet-ts contributors <kubelet-ts@localhost.invalid>
Installed-Size: ${installedKib}
Depends: libatomic1, libc6 (>= 2.28), libstdc++6, init-system-helpers, mount, util-linux
Recommends: containerd | cri-o
Provides: kubelet (= ${served})
Conflicts: kubelet
Replaces: kubelet
Section: admin
Priority: optional
Description: runs the pods of a Kubernetes node
 The kubelet of Kubernetes ${kubernetes} in TypeScript, as one executable file. It takes pods
 from an API server or, on a node of its own, from files, and has the container
 runtime run them.
`;
}

/** What an administrator may change, and an upgrade keeps. */
export const CONFFILES: readonly string[] = ['/etc/default/kubelet', '/etc/kubernetes/kubelet.yaml'];
