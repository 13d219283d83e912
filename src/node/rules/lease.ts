/** The lease that shows the control plane that a node is alive. */
import type { OwnerReference } from '../../api/meta.ts';
import { formatMicroTime } from '../../api/timestamp.ts';

export interface Lease {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

export const LEASE_NAMESPACE = 'kube-node-lease';

/** How often it is renewed within its duration. */
export const RENEWALS_A_DURATION = 4;

export interface LeaseRequest {
  readonly nodeName: string;
  readonly nodeUid: string;
  readonly durationSeconds: number;
  readonly now: number;
}

/** A new lease, or `base` with its time renewed. The node owns it, even if another node of this name owned it before. */
export function renewedLease(base: Lease | undefined, request: LeaseRequest): Lease {
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'Node', name: request.nodeName, uid: request.nodeUid };
  const others = (base?.metadata.ownerReferences ?? []).filter(({ kind }) => kind !== 'Node');
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    ...base,
    metadata: {
      ...(base?.metadata ?? { name: request.nodeName, namespace: LEASE_NAMESPACE }),
      ownerReferences: [...others, owner],
    },
    spec: {
      holderIdentity: request.nodeName,
      ...base?.spec,
      leaseDurationSeconds: request.durationSeconds,
      renewTime: formatMicroTime(request.now),
    },
  };
}
