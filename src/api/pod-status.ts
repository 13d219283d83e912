/** What the kubelet says of a pod (core/v1 PodStatus). Times are RFC 3339 text, as on the wire. */
import type { ResourceRequirements } from './container.ts';
import type { ResourceList } from './meta.ts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
export type ConditionStatus = 'True' | 'False' | 'Unknown';
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

export interface PodCondition {
  readonly type: string;
  readonly observedGeneration?: number;
  readonly status: ConditionStatus;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface ContainerStateWaiting {
  readonly reason?: string;
  readonly message?: string;
}

export interface ContainerStateRunning {
  readonly startedAt?: string | null;
}

export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string | null;
  readonly finishedAt?: string | null;
  readonly containerID?: string;
}

/** At most one of the three is set; none is waiting without a reason. */
export interface ContainerState {
  readonly waiting?: ContainerStateWaiting;
  readonly running?: ContainerStateRunning;
  readonly terminated?: ContainerStateTerminated;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
    readonly recursiveReadOnly?: string;
  }[];
  readonly user?: {
    readonly linux?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: readonly number[] };
  };
  readonly allocatedResourcesStatus?: readonly Readonly<Record<string, unknown>>[];
  readonly stopSignal?: string;
}

export interface PodStatus {
  readonly observedGeneration?: number;
  readonly phase?: PodPhase;
  readonly conditions?: readonly PodCondition[];
  readonly message?: string;
  readonly reason?: string;
  readonly nominatedNodeName?: string;
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: QosClass;
  readonly resize?: string;
  readonly resourceClaimStatuses?: readonly Readonly<Record<string, unknown>>[];
  readonly extendedResourceClaimStatus?: Readonly<Record<string, unknown>>;
  readonly allocatedResources?: ResourceList;
  readonly resources?: ResourceRequirements;
}
