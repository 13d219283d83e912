/** A node as the API server has it: the fields that a kubelet reads or writes. Others are kept as they came. */
import type { OwnerReference, ResourceList, StringMap } from './meta.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

export interface NodeMeta {
  readonly name: string;
  /** Empty in a node that the API server has not seen yet. */
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface NodeSpec {
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface NodeCondition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly lastHeartbeatTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export interface NodeSystemInfo {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly containerRuntimeVersion: string;
  readonly kubeletVersion: string;
  /** Always empty; the API still wants it. */
  readonly kubeProxyVersion: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  readonly swap?: { readonly capacity?: number };
}

export interface NodeImage {
  readonly names?: readonly string[];
  readonly sizeBytes?: number;
}

export interface NodeRuntimeHandler {
  readonly name: string;
  readonly features?: { readonly recursiveReadOnlyMounts?: boolean; readonly userNamespaces?: boolean };
}

export interface NodeStatus {
  readonly capacity?: ResourceList;
  readonly allocatable?: ResourceList;
  readonly conditions?: readonly NodeCondition[];
  readonly addresses?: readonly NodeAddress[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port: number } };
  readonly nodeInfo?: NodeSystemInfo;
  readonly images?: readonly NodeImage[];
  readonly volumesInUse?: readonly string[];
  readonly volumesAttached?: readonly { readonly name: string; readonly devicePath: string }[];
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[];
  readonly features?: { readonly supplementalGroupsPolicy?: boolean };
  readonly declaredFeatures?: readonly string[];
}

export interface KubeNode {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: NodeMeta;
  readonly spec?: NodeSpec;
  readonly status?: NodeStatus;
}

/** Extended resources, named with a domain of their own such as `example.com/gpu`: not those of Kubernetes itself. */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

export const isHugePageResource = (name: string): boolean => name.startsWith('hugepages-');

export function nodeCondition(node: KubeNode | undefined, type: string): NodeCondition | undefined {
  return node?.status?.conditions?.find((condition) => condition.type === type);
}
