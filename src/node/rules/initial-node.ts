/** The node as it is registered, before its status. */
import type { StringMap } from '../../api/meta.ts';
import type { KubeNode, Taint } from '../../api/node.ts';

export interface NodeIdentity {
  readonly name: string;
  readonly hostname: string;
  readonly architecture: string;
  /** `--node-labels`, which override the default ones. */
  readonly labels: StringMap;
  readonly taints: readonly Taint[];
  readonly externalCloud: boolean;
  readonly providerId: string;
  /** A controller of the cluster attaches volumes. */
  readonly controllerAttaches: boolean;
}

export const ATTACH_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach';
const CLOUD_TAINT: Taint = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

export function initialLabels({ hostname, architecture, labels }: NodeIdentity): StringMap {
  return {
    'kubernetes.io/hostname': hostname,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': architecture,
    ...labels,
  };
}

export function initialNode(identity: NodeIdentity): KubeNode {
  const { name, taints, externalCloud, providerId, controllerAttaches } = identity;
  const allTaints = [...taints.map(plainTaint), ...(externalCloud ? [CLOUD_TAINT] : [])];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: '',
      labels: initialLabels(identity),
      ...(controllerAttaches ? { annotations: { [ATTACH_ANNOTATION]: 'true' } } : {}),
    },
    spec: {
      ...(allTaints.length > 0 ? { taints: allTaints } : {}),
      ...(providerId === '' ? {} : { providerID: providerId }),
    },
  };
}

/** As it is sent: without empty fields. */
function plainTaint({ key, value, effect }: Taint): Taint {
  return { key, ...(value === undefined || value === '' ? {} : { value }), effect };
}
