// Made from proto/cri-runtime-v1.proto by tools/generate-wire.ts. Do not edit.
// Container Runtime Interface v1, the Linux part: the Windows messages are left out, and skipped when a runtime sends them. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_BYTES, NO_ENTRIES, NO_ITEMS, Shape, type MessageType, type MethodType, type UnknownEnumValue } from '../message.ts';

export const Protocol = {
  TCP: 0,
  UDP: 1,
  SCTP: 2,
} as const;
export type Protocol = (typeof Protocol)[keyof typeof Protocol] | UnknownEnumValue;

export const MountPropagation = {
  PROPAGATION_PRIVATE: 0,
  PROPAGATION_HOST_TO_CONTAINER: 1,
  PROPAGATION_BIDIRECTIONAL: 2,
} as const;
export type MountPropagation = (typeof MountPropagation)[keyof typeof MountPropagation] | UnknownEnumValue;

export const NamespaceMode = {
  POD: 0,
  CONTAINER: 1,
  NODE: 2,
  TARGET: 3,
} as const;
export type NamespaceMode = (typeof NamespaceMode)[keyof typeof NamespaceMode] | UnknownEnumValue;

export const SupplementalGroupsPolicy = {
  Merge: 0,
  Strict: 1,
} as const;
export type SupplementalGroupsPolicy = (typeof SupplementalGroupsPolicy)[keyof typeof SupplementalGroupsPolicy] | UnknownEnumValue;

export const SecurityProfileProfileType = {
  RuntimeDefault: 0,
  Unconfined: 1,
  Localhost: 2,
} as const;
export type SecurityProfileProfileType = (typeof SecurityProfileProfileType)[keyof typeof SecurityProfileProfileType] | UnknownEnumValue;

export const PodSandboxState = {
  SANDBOX_READY: 0,
  SANDBOX_NOTREADY: 1,
} as const;
export type PodSandboxState = (typeof PodSandboxState)[keyof typeof PodSandboxState] | UnknownEnumValue;

/** The numbers are this API's own, not the kernel's. */
export const Signal = {
  RUNTIME_DEFAULT: 0,
  SIGABRT: 1,
  SIGALRM: 2,
  SIGBUS: 3,
  SIGCHLD: 4,
  SIGCLD: 5,
  SIGCONT: 6,
  SIGFPE: 7,
  SIGHUP: 8,
  SIGILL: 9,
  SIGINT: 10,
  SIGIO: 11,
  SIGIOT: 12,
  SIGKILL: 13,
  SIGPIPE: 14,
  SIGPOLL: 15,
  SIGPROF: 16,
  SIGPWR: 17,
  SIGQUIT: 18,
  SIGSEGV: 19,
  SIGSTKFLT: 20,
  SIGSTOP: 21,
  SIGSYS: 22,
  SIGTERM: 23,
  SIGTRAP: 24,
  SIGTSTP: 25,
  SIGTTIN: 26,
  SIGTTOU: 27,
  SIGURG: 28,
  SIGUSR1: 29,
  SIGUSR2: 30,
  SIGVTALRM: 31,
  SIGWINCH: 32,
  SIGXCPU: 33,
  SIGXFSZ: 34,
  SIGRTMIN: 35,
  SIGRTMINPLUS1: 36,
  SIGRTMINPLUS2: 37,
  SIGRTMINPLUS3: 38,
  SIGRTMINPLUS4: 39,
  SIGRTMINPLUS5: 40,
  SIGRTMINPLUS6: 41,
  SIGRTMINPLUS7: 42,
  SIGRTMINPLUS8: 43,
  SIGRTMINPLUS9: 44,
  SIGRTMINPLUS10: 45,
  SIGRTMINPLUS11: 46,
  SIGRTMINPLUS12: 47,
  SIGRTMINPLUS13: 48,
  SIGRTMINPLUS14: 49,
  SIGRTMINPLUS15: 50,
  SIGRTMAXMINUS14: 51,
  SIGRTMAXMINUS13: 52,
  SIGRTMAXMINUS12: 53,
  SIGRTMAXMINUS11: 54,
  SIGRTMAXMINUS10: 55,
  SIGRTMAXMINUS9: 56,
  SIGRTMAXMINUS8: 57,
  SIGRTMAXMINUS7: 58,
  SIGRTMAXMINUS6: 59,
  SIGRTMAXMINUS5: 60,
  SIGRTMAXMINUS4: 61,
  SIGRTMAXMINUS3: 62,
  SIGRTMAXMINUS2: 63,
  SIGRTMAXMINUS1: 64,
  SIGRTMAX: 65,
} as const;
export type Signal = (typeof Signal)[keyof typeof Signal] | UnknownEnumValue;

export const ContainerState = {
  CONTAINER_CREATED: 0,
  CONTAINER_RUNNING: 1,
  CONTAINER_EXITED: 2,
  CONTAINER_UNKNOWN: 3,
} as const;
export type ContainerState = (typeof ContainerState)[keyof typeof ContainerState] | UnknownEnumValue;

export const ContainerEventType = {
  CONTAINER_CREATED_EVENT: 0,
  CONTAINER_STARTED_EVENT: 1,
  CONTAINER_STOPPED_EVENT: 2,
  CONTAINER_DELETED_EVENT: 3,
} as const;
export type ContainerEventType = (typeof ContainerEventType)[keyof typeof ContainerEventType] | UnknownEnumValue;

export const MetricType = {
  COUNTER: 0,
  GAUGE: 1,
} as const;
export type MetricType = (typeof MetricType)[keyof typeof MetricType] | UnknownEnumValue;

export const CgroupDriver = {
  SYSTEMD: 0,
  CGROUPFS: 1,
} as const;
export type CgroupDriver = (typeof CgroupDriver)[keyof typeof CgroupDriver] | UnknownEnumValue;

export interface VersionRequest {
  readonly version: string;
}
export const VersionRequest: MessageType<VersionRequest> = message('runtime.v1.VersionRequest', () => ({ version: '' }), [
  [1, 'version', Kind.string],
]);

export interface VersionResponse {
  readonly version: string;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}
export const VersionResponse: MessageType<VersionResponse> = message('runtime.v1.VersionResponse', () => ({ version: '', runtimeName: '', runtimeVersion: '', runtimeApiVersion: '' }), [
  [1, 'version', Kind.string],
  [2, 'runtimeName', Kind.string],
  [3, 'runtimeVersion', Kind.string],
  [4, 'runtimeApiVersion', Kind.string],
]);

export interface DNSConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}
export const DNSConfig: MessageType<DNSConfig> = message('runtime.v1.DNSConfig', () => ({ servers: NO_ITEMS, searches: NO_ITEMS, options: NO_ITEMS }), [
  [1, 'servers', Kind.string, Shape.list],
  [2, 'searches', Kind.string, Shape.list],
  [3, 'options', Kind.string, Shape.list],
]);

export interface PortMapping {
  readonly protocol: Protocol;
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIp: string;
}
export const PortMapping: MessageType<PortMapping> = message('runtime.v1.PortMapping', () => ({ protocol: 0, containerPort: 0, hostPort: 0, hostIp: '' }), [
  [1, 'protocol', Protocol],
  [2, 'containerPort', Kind.int32],
  [3, 'hostPort', Kind.int32],
  [4, 'hostIp', Kind.string],
]);

export interface Mount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly readonly: boolean;
  readonly selinuxRelabel: boolean;
  readonly propagation: MountPropagation;
  readonly uidMappings: readonly IDMapping[];
  readonly gidMappings: readonly IDMapping[];
  readonly recursiveReadOnly: boolean;
  readonly image: ImageSpec | undefined;
  readonly imageSubPath: string;
}
export const Mount: MessageType<Mount> = message('runtime.v1.Mount', () => ({ containerPath: '', hostPath: '', readonly: false, selinuxRelabel: false, propagation: 0, uidMappings: NO_ITEMS, gidMappings: NO_ITEMS, recursiveReadOnly: false, image: undefined, imageSubPath: '' }), [
  [1, 'containerPath', Kind.string],
  [2, 'hostPath', Kind.string],
  [3, 'readonly', Kind.bool],
  [4, 'selinuxRelabel', Kind.bool],
  [5, 'propagation', MountPropagation],
  [6, 'uidMappings', () => IDMapping, Shape.list],
  [7, 'gidMappings', () => IDMapping, Shape.list],
  [8, 'recursiveReadOnly', Kind.bool],
  [9, 'image', () => ImageSpec],
  [10, 'imageSubPath', Kind.string],
]);

export interface IDMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}
export const IDMapping: MessageType<IDMapping> = message('runtime.v1.IDMapping', () => ({ hostId: 0, containerId: 0, length: 0 }), [
  [1, 'hostId', Kind.uint32],
  [2, 'containerId', Kind.uint32],
  [3, 'length', Kind.uint32],
]);

export interface UserNamespace {
  readonly mode: NamespaceMode;
  readonly uids: readonly IDMapping[];
  readonly gids: readonly IDMapping[];
}
export const UserNamespace: MessageType<UserNamespace> = message('runtime.v1.UserNamespace', () => ({ mode: 0, uids: NO_ITEMS, gids: NO_ITEMS }), [
  [1, 'mode', NamespaceMode],
  [2, 'uids', () => IDMapping, Shape.list],
  [3, 'gids', () => IDMapping, Shape.list],
]);

export interface NamespaceOption {
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  readonly targetId: string;
  readonly usernsOptions: UserNamespace | undefined;
}
export const NamespaceOption: MessageType<NamespaceOption> = message('runtime.v1.NamespaceOption', () => ({ network: 0, pid: 0, ipc: 0, targetId: '', usernsOptions: undefined }), [
  [1, 'network', NamespaceMode],
  [2, 'pid', NamespaceMode],
  [3, 'ipc', NamespaceMode],
  [4, 'targetId', Kind.string],
  [5, 'usernsOptions', () => UserNamespace],
]);

/** A wrapper tells "0" from "not said". */
export interface Int64Value {
  readonly value: number;
}
export const Int64Value: MessageType<Int64Value> = message('runtime.v1.Int64Value', () => ({ value: 0 }), [
  [1, 'value', Kind.int64Number],
]);

export interface LinuxSandboxSecurityContext {
  readonly namespaceOptions: NamespaceOption | undefined;
  readonly selinuxOptions: SELinuxOption | undefined;
  readonly runAsUser: Int64Value | undefined;
  readonly runAsGroup: Int64Value | undefined;
  readonly readonlyRootfs: boolean;
  readonly supplementalGroups: readonly number[];
  readonly supplementalGroupsPolicy: SupplementalGroupsPolicy;
  readonly privileged: boolean;
  readonly seccomp: SecurityProfile | undefined;
  readonly apparmor: SecurityProfile | undefined;
  /** Before `seccomp`. */
  readonly seccompProfilePath: string;
}
export const LinuxSandboxSecurityContext: MessageType<LinuxSandboxSecurityContext> = message('runtime.v1.LinuxSandboxSecurityContext', () => ({ namespaceOptions: undefined, selinuxOptions: undefined, runAsUser: undefined, runAsGroup: undefined, readonlyRootfs: false, supplementalGroups: NO_ITEMS, supplementalGroupsPolicy: 0, privileged: false, seccomp: undefined, apparmor: undefined, seccompProfilePath: '' }), [
  [1, 'namespaceOptions', () => NamespaceOption],
  [2, 'selinuxOptions', () => SELinuxOption],
  [3, 'runAsUser', () => Int64Value],
  [8, 'runAsGroup', () => Int64Value],
  [4, 'readonlyRootfs', Kind.bool],
  [5, 'supplementalGroups', Kind.int64Number, Shape.list],
  [11, 'supplementalGroupsPolicy', SupplementalGroupsPolicy],
  [6, 'privileged', Kind.bool],
  [9, 'seccomp', () => SecurityProfile],
  [10, 'apparmor', () => SecurityProfile],
  [7, 'seccompProfilePath', Kind.string],
]);

export interface SecurityProfile {
  readonly profileType: SecurityProfileProfileType;
  /** Path of a seccomp file or name of an AppArmor profile, for Localhost only. */
  readonly localhostRef: string;
}
export const SecurityProfile: MessageType<SecurityProfile> = message('runtime.v1.SecurityProfile', () => ({ profileType: 0, localhostRef: '' }), [
  [1, 'profileType', SecurityProfileProfileType],
  [2, 'localhostRef', Kind.string],
]);

export interface LinuxPodSandboxConfig {
  readonly cgroupParent: string;
  readonly securityContext: LinuxSandboxSecurityContext | undefined;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly overhead: LinuxContainerResources | undefined;
  readonly resources: LinuxContainerResources | undefined;
}
export const LinuxPodSandboxConfig: MessageType<LinuxPodSandboxConfig> = message('runtime.v1.LinuxPodSandboxConfig', () => ({ cgroupParent: '', securityContext: undefined, sysctls: NO_ENTRIES, overhead: undefined, resources: undefined }), [
  [1, 'cgroupParent', Kind.string],
  [2, 'securityContext', () => LinuxSandboxSecurityContext],
  [3, 'sysctls', Kind.string, Shape.map],
  [4, 'overhead', () => LinuxContainerResources],
  [5, 'resources', () => LinuxContainerResources],
]);

export interface PodSandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
}
export const PodSandboxMetadata: MessageType<PodSandboxMetadata> = message('runtime.v1.PodSandboxMetadata', () => ({ name: '', uid: '', namespace: '', attempt: 0 }), [
  [1, 'name', Kind.string],
  [2, 'uid', Kind.string],
  [3, 'namespace', Kind.string],
  [4, 'attempt', Kind.uint32],
]);

export interface PodSandboxConfig {
  readonly metadata: PodSandboxMetadata | undefined;
  readonly hostname: string;
  readonly logDirectory: string;
  readonly dnsConfig: DNSConfig | undefined;
  readonly portMappings: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux: LinuxPodSandboxConfig | undefined;
}
export const PodSandboxConfig: MessageType<PodSandboxConfig> = message('runtime.v1.PodSandboxConfig', () => ({ metadata: undefined, hostname: '', logDirectory: '', dnsConfig: undefined, portMappings: NO_ITEMS, labels: NO_ENTRIES, annotations: NO_ENTRIES, linux: undefined }), [
  [1, 'metadata', () => PodSandboxMetadata],
  [2, 'hostname', Kind.string],
  [3, 'logDirectory', Kind.string],
  [4, 'dnsConfig', () => DNSConfig],
  [5, 'portMappings', () => PortMapping, Shape.list],
  [6, 'labels', Kind.string, Shape.map],
  [7, 'annotations', Kind.string, Shape.map],
  [8, 'linux', () => LinuxPodSandboxConfig],
]);

export interface RunPodSandboxRequest {
  readonly config: PodSandboxConfig | undefined;
  readonly runtimeHandler: string;
}
export const RunPodSandboxRequest: MessageType<RunPodSandboxRequest> = message('runtime.v1.RunPodSandboxRequest', () => ({ config: undefined, runtimeHandler: '' }), [
  [1, 'config', () => PodSandboxConfig],
  [2, 'runtimeHandler', Kind.string],
]);

export interface RunPodSandboxResponse {
  readonly podSandboxId: string;
}
export const RunPodSandboxResponse: MessageType<RunPodSandboxResponse> = message('runtime.v1.RunPodSandboxResponse', () => ({ podSandboxId: '' }), [
  [1, 'podSandboxId', Kind.string],
]);

export interface StopPodSandboxRequest {
  readonly podSandboxId: string;
}
export const StopPodSandboxRequest: MessageType<StopPodSandboxRequest> = message('runtime.v1.StopPodSandboxRequest', () => ({ podSandboxId: '' }), [
  [1, 'podSandboxId', Kind.string],
]);

export interface RemovePodSandboxRequest {
  readonly podSandboxId: string;
}
export const RemovePodSandboxRequest: MessageType<RemovePodSandboxRequest> = message('runtime.v1.RemovePodSandboxRequest', () => ({ podSandboxId: '' }), [
  [1, 'podSandboxId', Kind.string],
]);

export interface PodSandboxStatusRequest {
  readonly podSandboxId: string;
  readonly verbose: boolean;
}
export const PodSandboxStatusRequest: MessageType<PodSandboxStatusRequest> = message('runtime.v1.PodSandboxStatusRequest', () => ({ podSandboxId: '', verbose: false }), [
  [1, 'podSandboxId', Kind.string],
  [2, 'verbose', Kind.bool],
]);

export interface PodIP {
  readonly ip: string;
}
export const PodIP: MessageType<PodIP> = message('runtime.v1.PodIP', () => ({ ip: '' }), [
  [1, 'ip', Kind.string],
]);

export interface PodSandboxNetworkStatus {
  readonly ip: string;
  readonly additionalIps: readonly PodIP[];
}
export const PodSandboxNetworkStatus: MessageType<PodSandboxNetworkStatus> = message('runtime.v1.PodSandboxNetworkStatus', () => ({ ip: '', additionalIps: NO_ITEMS }), [
  [1, 'ip', Kind.string],
  [2, 'additionalIps', () => PodIP, Shape.list],
]);

export interface Namespace {
  readonly options: NamespaceOption | undefined;
}
export const Namespace: MessageType<Namespace> = message('runtime.v1.Namespace', () => ({ options: undefined }), [
  [2, 'options', () => NamespaceOption],
]);

export interface LinuxPodSandboxStatus {
  readonly namespaces: Namespace | undefined;
}
export const LinuxPodSandboxStatus: MessageType<LinuxPodSandboxStatus> = message('runtime.v1.LinuxPodSandboxStatus', () => ({ namespaces: undefined }), [
  [1, 'namespaces', () => Namespace],
]);

export interface PodSandboxStatus {
  readonly id: string;
  readonly metadata: PodSandboxMetadata | undefined;
  readonly state: PodSandboxState;
  /** Nanoseconds since 1970, like every time in this API: more than a number holds exactly. */
  readonly createdAt: bigint;
  readonly network: PodSandboxNetworkStatus | undefined;
  readonly linux: LinuxPodSandboxStatus | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}
export const PodSandboxStatus: MessageType<PodSandboxStatus> = message('runtime.v1.PodSandboxStatus', () => ({ id: '', metadata: undefined, state: 0, createdAt: 0n, network: undefined, linux: undefined, labels: NO_ENTRIES, annotations: NO_ENTRIES, runtimeHandler: '' }), [
  [1, 'id', Kind.string],
  [2, 'metadata', () => PodSandboxMetadata],
  [3, 'state', PodSandboxState],
  [4, 'createdAt', Kind.int64],
  [5, 'network', () => PodSandboxNetworkStatus],
  [6, 'linux', () => LinuxPodSandboxStatus],
  [7, 'labels', Kind.string, Shape.map],
  [8, 'annotations', Kind.string, Shape.map],
  [9, 'runtimeHandler', Kind.string],
]);

export interface PodSandboxStatusResponse {
  readonly status: PodSandboxStatus | undefined;
  readonly info: Readonly<Record<string, string>>;
  /** Only from runtimes with container events. */
  readonly containersStatuses: readonly ContainerStatus[];
  readonly timestamp: bigint;
}
export const PodSandboxStatusResponse: MessageType<PodSandboxStatusResponse> = message('runtime.v1.PodSandboxStatusResponse', () => ({ status: undefined, info: NO_ENTRIES, containersStatuses: NO_ITEMS, timestamp: 0n }), [
  [1, 'status', () => PodSandboxStatus],
  [2, 'info', Kind.string, Shape.map],
  [3, 'containersStatuses', () => ContainerStatus, Shape.list],
  [4, 'timestamp', Kind.int64],
]);

export interface PodSandboxStateValue {
  readonly state: PodSandboxState;
}
export const PodSandboxStateValue: MessageType<PodSandboxStateValue> = message('runtime.v1.PodSandboxStateValue', () => ({ state: 0 }), [
  [1, 'state', PodSandboxState],
]);

export interface PodSandboxFilter {
  readonly id: string;
  readonly state: PodSandboxStateValue | undefined;
  readonly labelSelector: Readonly<Record<string, string>>;
}
export const PodSandboxFilter: MessageType<PodSandboxFilter> = message('runtime.v1.PodSandboxFilter', () => ({ id: '', state: undefined, labelSelector: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'state', () => PodSandboxStateValue],
  [3, 'labelSelector', Kind.string, Shape.map],
]);

export interface ListPodSandboxRequest {
  readonly filter: PodSandboxFilter | undefined;
}
export const ListPodSandboxRequest: MessageType<ListPodSandboxRequest> = message('runtime.v1.ListPodSandboxRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => PodSandboxFilter],
]);

/** One line of a list; PodSandboxStatus is the whole story. */
export interface PodSandbox {
  readonly id: string;
  readonly metadata: PodSandboxMetadata | undefined;
  readonly state: PodSandboxState;
  readonly createdAt: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}
export const PodSandbox: MessageType<PodSandbox> = message('runtime.v1.PodSandbox', () => ({ id: '', metadata: undefined, state: 0, createdAt: 0n, labels: NO_ENTRIES, annotations: NO_ENTRIES, runtimeHandler: '' }), [
  [1, 'id', Kind.string],
  [2, 'metadata', () => PodSandboxMetadata],
  [3, 'state', PodSandboxState],
  [4, 'createdAt', Kind.int64],
  [5, 'labels', Kind.string, Shape.map],
  [6, 'annotations', Kind.string, Shape.map],
  [7, 'runtimeHandler', Kind.string],
]);

export interface ListPodSandboxResponse {
  readonly items: readonly PodSandbox[];
}
export const ListPodSandboxResponse: MessageType<ListPodSandboxResponse> = message('runtime.v1.ListPodSandboxResponse', () => ({ items: NO_ITEMS }), [
  [1, 'items', () => PodSandbox, Shape.list],
]);

export interface StreamPodSandboxesRequest {
  readonly filter: PodSandboxFilter | undefined;
}
export const StreamPodSandboxesRequest: MessageType<StreamPodSandboxesRequest> = message('runtime.v1.StreamPodSandboxesRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => PodSandboxFilter],
]);

export interface StreamPodSandboxesResponse {
  readonly podSandboxes: readonly PodSandbox[];
}
export const StreamPodSandboxesResponse: MessageType<StreamPodSandboxesResponse> = message('runtime.v1.StreamPodSandboxesResponse', () => ({ podSandboxes: NO_ITEMS }), [
  [1, 'podSandboxes', () => PodSandbox, Shape.list],
]);

export interface PodSandboxStatsRequest {
  readonly podSandboxId: string;
}
export const PodSandboxStatsRequest: MessageType<PodSandboxStatsRequest> = message('runtime.v1.PodSandboxStatsRequest', () => ({ podSandboxId: '' }), [
  [1, 'podSandboxId', Kind.string],
]);

export interface PodSandboxStatsResponse {
  readonly stats: PodSandboxStats | undefined;
}
export const PodSandboxStatsResponse: MessageType<PodSandboxStatsResponse> = message('runtime.v1.PodSandboxStatsResponse', () => ({ stats: undefined }), [
  [1, 'stats', () => PodSandboxStats],
]);

export interface PodSandboxStatsFilter {
  readonly id: string;
  readonly labelSelector: Readonly<Record<string, string>>;
}
export const PodSandboxStatsFilter: MessageType<PodSandboxStatsFilter> = message('runtime.v1.PodSandboxStatsFilter', () => ({ id: '', labelSelector: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'labelSelector', Kind.string, Shape.map],
]);

export interface ListPodSandboxStatsRequest {
  readonly filter: PodSandboxStatsFilter | undefined;
}
export const ListPodSandboxStatsRequest: MessageType<ListPodSandboxStatsRequest> = message('runtime.v1.ListPodSandboxStatsRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => PodSandboxStatsFilter],
]);

export interface ListPodSandboxStatsResponse {
  readonly stats: readonly PodSandboxStats[];
}
export const ListPodSandboxStatsResponse: MessageType<ListPodSandboxStatsResponse> = message('runtime.v1.ListPodSandboxStatsResponse', () => ({ stats: NO_ITEMS }), [
  [1, 'stats', () => PodSandboxStats, Shape.list],
]);

export interface StreamPodSandboxStatsRequest {
  readonly filter: PodSandboxStatsFilter | undefined;
}
export const StreamPodSandboxStatsRequest: MessageType<StreamPodSandboxStatsRequest> = message('runtime.v1.StreamPodSandboxStatsRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => PodSandboxStatsFilter],
]);

export interface StreamPodSandboxStatsResponse {
  readonly podSandboxStats: readonly PodSandboxStats[];
}
export const StreamPodSandboxStatsResponse: MessageType<StreamPodSandboxStatsResponse> = message('runtime.v1.StreamPodSandboxStatsResponse', () => ({ podSandboxStats: NO_ITEMS }), [
  [1, 'podSandboxStats', () => PodSandboxStats, Shape.list],
]);

export interface PodSandboxAttributes {
  readonly id: string;
  readonly metadata: PodSandboxMetadata | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
export const PodSandboxAttributes: MessageType<PodSandboxAttributes> = message('runtime.v1.PodSandboxAttributes', () => ({ id: '', metadata: undefined, labels: NO_ENTRIES, annotations: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'metadata', () => PodSandboxMetadata],
  [3, 'labels', Kind.string, Shape.map],
  [4, 'annotations', Kind.string, Shape.map],
]);

export interface PodSandboxStats {
  readonly attributes: PodSandboxAttributes | undefined;
  readonly linux: LinuxPodSandboxStats | undefined;
}
export const PodSandboxStats: MessageType<PodSandboxStats> = message('runtime.v1.PodSandboxStats', () => ({ attributes: undefined, linux: undefined }), [
  [1, 'attributes', () => PodSandboxAttributes],
  [2, 'linux', () => LinuxPodSandboxStats],
]);

export interface LinuxPodSandboxStats {
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly network: NetworkUsage | undefined;
  readonly process: ProcessUsage | undefined;
  readonly containers: readonly ContainerStats[];
  readonly io: IoUsage | undefined;
}
export const LinuxPodSandboxStats: MessageType<LinuxPodSandboxStats> = message('runtime.v1.LinuxPodSandboxStats', () => ({ cpu: undefined, memory: undefined, network: undefined, process: undefined, containers: NO_ITEMS, io: undefined }), [
  [1, 'cpu', () => CpuUsage],
  [2, 'memory', () => MemoryUsage],
  [3, 'network', () => NetworkUsage],
  [4, 'process', () => ProcessUsage],
  [5, 'containers', () => ContainerStats, Shape.list],
  [6, 'io', () => IoUsage],
]);

export interface NetworkUsage {
  readonly timestamp: bigint;
  readonly defaultInterface: NetworkInterfaceUsage | undefined;
  readonly interfaces: readonly NetworkInterfaceUsage[];
}
export const NetworkUsage: MessageType<NetworkUsage> = message('runtime.v1.NetworkUsage', () => ({ timestamp: 0n, defaultInterface: undefined, interfaces: NO_ITEMS }), [
  [1, 'timestamp', Kind.int64],
  [2, 'defaultInterface', () => NetworkInterfaceUsage],
  [3, 'interfaces', () => NetworkInterfaceUsage, Shape.list],
]);

export interface NetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes: UInt64Value | undefined;
  readonly rxErrors: UInt64Value | undefined;
  readonly txBytes: UInt64Value | undefined;
  readonly txErrors: UInt64Value | undefined;
}
export const NetworkInterfaceUsage: MessageType<NetworkInterfaceUsage> = message('runtime.v1.NetworkInterfaceUsage', () => ({ name: '', rxBytes: undefined, rxErrors: undefined, txBytes: undefined, txErrors: undefined }), [
  [1, 'name', Kind.string],
  [2, 'rxBytes', () => UInt64Value],
  [3, 'rxErrors', () => UInt64Value],
  [4, 'txBytes', () => UInt64Value],
  [5, 'txErrors', () => UInt64Value],
]);

export interface ProcessUsage {
  readonly timestamp: bigint;
  readonly processCount: UInt64Value | undefined;
}
export const ProcessUsage: MessageType<ProcessUsage> = message('runtime.v1.ProcessUsage', () => ({ timestamp: 0n, processCount: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'processCount', () => UInt64Value],
]);

export interface ImageSpec {
  /** Reference or id. */
  readonly image: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly userSpecifiedImage: string;
  readonly runtimeHandler: string;
  readonly imageRef: string;
}
export const ImageSpec: MessageType<ImageSpec> = message('runtime.v1.ImageSpec', () => ({ image: '', annotations: NO_ENTRIES, userSpecifiedImage: '', runtimeHandler: '', imageRef: '' }), [
  [1, 'image', Kind.string],
  [2, 'annotations', Kind.string, Shape.map],
  [18, 'userSpecifiedImage', Kind.string],
  [19, 'runtimeHandler', Kind.string],
  [20, 'imageRef', Kind.string],
]);

export interface KeyValue {
  readonly key: string;
  /** An environment value is any bytes but NUL, not necessarily UTF-8. */
  readonly value: Uint8Array;
}
export const KeyValue: MessageType<KeyValue> = message('runtime.v1.KeyValue', () => ({ key: '', value: NO_BYTES }), [
  [1, 'key', Kind.string],
  [2, 'value', Kind.bytes],
]);

export interface LinuxContainerResources {
  readonly cpuPeriod: number;
  readonly cpuQuota: number;
  readonly cpuShares: number;
  readonly memoryLimitInBytes: number;
  readonly oomScoreAdj: number;
  readonly cpusetCpus: string;
  readonly cpusetMems: string;
  readonly hugepageLimits: readonly HugepageLimit[];
  readonly unified: Readonly<Record<string, string>>;
  /** Memory and swap together, as cgroup v1 counts. */
  readonly memorySwapLimitInBytes: number;
}
export const LinuxContainerResources: MessageType<LinuxContainerResources> = message('runtime.v1.LinuxContainerResources', () => ({ cpuPeriod: 0, cpuQuota: 0, cpuShares: 0, memoryLimitInBytes: 0, oomScoreAdj: 0, cpusetCpus: '', cpusetMems: '', hugepageLimits: NO_ITEMS, unified: NO_ENTRIES, memorySwapLimitInBytes: 0 }), [
  [1, 'cpuPeriod', Kind.int64Number],
  [2, 'cpuQuota', Kind.int64Number],
  [3, 'cpuShares', Kind.int64Number],
  [4, 'memoryLimitInBytes', Kind.int64Number],
  [5, 'oomScoreAdj', Kind.int64Number],
  [6, 'cpusetCpus', Kind.string],
  [7, 'cpusetMems', Kind.string],
  [8, 'hugepageLimits', () => HugepageLimit, Shape.list],
  [9, 'unified', Kind.string, Shape.map],
  [10, 'memorySwapLimitInBytes', Kind.int64Number],
]);

export interface HugepageLimit {
  readonly pageSize: string;
  readonly limit: number;
}
export const HugepageLimit: MessageType<HugepageLimit> = message('runtime.v1.HugepageLimit', () => ({ pageSize: '', limit: 0 }), [
  [1, 'pageSize', Kind.string],
  [2, 'limit', Kind.uint64Number],
]);

export interface SELinuxOption {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  readonly level: string;
}
export const SELinuxOption: MessageType<SELinuxOption> = message('runtime.v1.SELinuxOption', () => ({ user: '', role: '', type: '', level: '' }), [
  [1, 'user', Kind.string],
  [2, 'role', Kind.string],
  [3, 'type', Kind.string],
  [4, 'level', Kind.string],
]);

export interface Capability {
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly addAmbientCapabilities: readonly string[];
}
export const Capability: MessageType<Capability> = message('runtime.v1.Capability', () => ({ addCapabilities: NO_ITEMS, dropCapabilities: NO_ITEMS, addAmbientCapabilities: NO_ITEMS }), [
  [1, 'addCapabilities', Kind.string, Shape.list],
  [2, 'dropCapabilities', Kind.string, Shape.list],
  [3, 'addAmbientCapabilities', Kind.string, Shape.list],
]);

export interface LinuxContainerSecurityContext {
  readonly capabilities: Capability | undefined;
  readonly privileged: boolean;
  readonly namespaceOptions: NamespaceOption | undefined;
  readonly selinuxOptions: SELinuxOption | undefined;
  readonly runAsUser: Int64Value | undefined;
  readonly runAsGroup: Int64Value | undefined;
  readonly runAsUsername: string;
  readonly readonlyRootfs: boolean;
  readonly supplementalGroups: readonly number[];
  readonly supplementalGroupsPolicy: SupplementalGroupsPolicy;
  readonly noNewPrivs: boolean;
  readonly maskedPaths: readonly string[];
  readonly readonlyPaths: readonly string[];
  readonly seccomp: SecurityProfile | undefined;
  readonly apparmor: SecurityProfile | undefined;
  /** Before `apparmor` and `seccomp`; older runtimes read only these two. */
  readonly apparmorProfile: string;
  readonly seccompProfilePath: string;
}
export const LinuxContainerSecurityContext: MessageType<LinuxContainerSecurityContext> = message('runtime.v1.LinuxContainerSecurityContext', () => ({ capabilities: undefined, privileged: false, namespaceOptions: undefined, selinuxOptions: undefined, runAsUser: undefined, runAsGroup: undefined, runAsUsername: '', readonlyRootfs: false, supplementalGroups: NO_ITEMS, supplementalGroupsPolicy: 0, noNewPrivs: false, maskedPaths: NO_ITEMS, readonlyPaths: NO_ITEMS, seccomp: undefined, apparmor: undefined, apparmorProfile: '', seccompProfilePath: '' }), [
  [1, 'capabilities', () => Capability],
  [2, 'privileged', Kind.bool],
  [3, 'namespaceOptions', () => NamespaceOption],
  [4, 'selinuxOptions', () => SELinuxOption],
  [5, 'runAsUser', () => Int64Value],
  [12, 'runAsGroup', () => Int64Value],
  [6, 'runAsUsername', Kind.string],
  [7, 'readonlyRootfs', Kind.bool],
  [8, 'supplementalGroups', Kind.int64Number, Shape.list],
  [17, 'supplementalGroupsPolicy', SupplementalGroupsPolicy],
  [11, 'noNewPrivs', Kind.bool],
  [13, 'maskedPaths', Kind.string, Shape.list],
  [14, 'readonlyPaths', Kind.string, Shape.list],
  [15, 'seccomp', () => SecurityProfile],
  [16, 'apparmor', () => SecurityProfile],
  [9, 'apparmorProfile', Kind.string],
  [10, 'seccompProfilePath', Kind.string],
]);

export interface LinuxContainerConfig {
  readonly resources: LinuxContainerResources | undefined;
  readonly securityContext: LinuxContainerSecurityContext | undefined;
}
export const LinuxContainerConfig: MessageType<LinuxContainerConfig> = message('runtime.v1.LinuxContainerConfig', () => ({ resources: undefined, securityContext: undefined }), [
  [1, 'resources', () => LinuxContainerResources],
  [2, 'securityContext', () => LinuxContainerSecurityContext],
]);

export interface LinuxContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}
export const LinuxContainerUser: MessageType<LinuxContainerUser> = message('runtime.v1.LinuxContainerUser', () => ({ uid: 0, gid: 0, supplementalGroups: NO_ITEMS }), [
  [1, 'uid', Kind.int64Number],
  [2, 'gid', Kind.int64Number],
  [3, 'supplementalGroups', Kind.int64Number, Shape.list],
]);

export interface ContainerMetadata {
  readonly name: string;
  readonly attempt: number;
}
export const ContainerMetadata: MessageType<ContainerMetadata> = message('runtime.v1.ContainerMetadata', () => ({ name: '', attempt: 0 }), [
  [1, 'name', Kind.string],
  [2, 'attempt', Kind.uint32],
]);

export interface Device {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly permissions: string;
}
export const Device: MessageType<Device> = message('runtime.v1.Device', () => ({ containerPath: '', hostPath: '', permissions: '' }), [
  [1, 'containerPath', Kind.string],
  [2, 'hostPath', Kind.string],
  [3, 'permissions', Kind.string],
]);

export interface CDIDevice {
  readonly name: string;
}
export const CDIDevice: MessageType<CDIDevice> = message('runtime.v1.CDIDevice', () => ({ name: '' }), [
  [1, 'name', Kind.string],
]);

export interface ContainerConfig {
  readonly metadata: ContainerMetadata | undefined;
  readonly image: ImageSpec | undefined;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDir: string;
  readonly envs: readonly KeyValue[];
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly linux: LinuxContainerConfig | undefined;
  readonly cdiDevices: readonly CDIDevice[];
  readonly stopSignal: Signal;
}
export const ContainerConfig: MessageType<ContainerConfig> = message('runtime.v1.ContainerConfig', () => ({ metadata: undefined, image: undefined, command: NO_ITEMS, args: NO_ITEMS, workingDir: '', envs: NO_ITEMS, mounts: NO_ITEMS, devices: NO_ITEMS, labels: NO_ENTRIES, annotations: NO_ENTRIES, logPath: '', stdin: false, stdinOnce: false, tty: false, linux: undefined, cdiDevices: NO_ITEMS, stopSignal: 0 }), [
  [1, 'metadata', () => ContainerMetadata],
  [2, 'image', () => ImageSpec],
  [3, 'command', Kind.string, Shape.list],
  [4, 'args', Kind.string, Shape.list],
  [5, 'workingDir', Kind.string],
  [6, 'envs', () => KeyValue, Shape.list],
  [7, 'mounts', () => Mount, Shape.list],
  [8, 'devices', () => Device, Shape.list],
  [9, 'labels', Kind.string, Shape.map],
  [10, 'annotations', Kind.string, Shape.map],
  [11, 'logPath', Kind.string],
  [12, 'stdin', Kind.bool],
  [13, 'stdinOnce', Kind.bool],
  [14, 'tty', Kind.bool],
  [15, 'linux', () => LinuxContainerConfig],
  [17, 'cdiDevices', () => CDIDevice, Shape.list],
  [18, 'stopSignal', Signal],
]);

export interface CreateContainerRequest {
  readonly podSandboxId: string;
  readonly config: ContainerConfig | undefined;
  readonly sandboxConfig: PodSandboxConfig | undefined;
}
export const CreateContainerRequest: MessageType<CreateContainerRequest> = message('runtime.v1.CreateContainerRequest', () => ({ podSandboxId: '', config: undefined, sandboxConfig: undefined }), [
  [1, 'podSandboxId', Kind.string],
  [2, 'config', () => ContainerConfig],
  [3, 'sandboxConfig', () => PodSandboxConfig],
]);

export interface CreateContainerResponse {
  readonly containerId: string;
}
export const CreateContainerResponse: MessageType<CreateContainerResponse> = message('runtime.v1.CreateContainerResponse', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface StartContainerRequest {
  readonly containerId: string;
}
export const StartContainerRequest: MessageType<StartContainerRequest> = message('runtime.v1.StartContainerRequest', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface StopContainerRequest {
  readonly containerId: string;
  /** Seconds until the kill. */
  readonly timeout: number;
}
export const StopContainerRequest: MessageType<StopContainerRequest> = message('runtime.v1.StopContainerRequest', () => ({ containerId: '', timeout: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'timeout', Kind.int64Number],
]);

export interface RemoveContainerRequest {
  readonly containerId: string;
}
export const RemoveContainerRequest: MessageType<RemoveContainerRequest> = message('runtime.v1.RemoveContainerRequest', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface ContainerStateValue {
  readonly state: ContainerState;
}
export const ContainerStateValue: MessageType<ContainerStateValue> = message('runtime.v1.ContainerStateValue', () => ({ state: 0 }), [
  [1, 'state', ContainerState],
]);

export interface ContainerFilter {
  readonly id: string;
  readonly state: ContainerStateValue | undefined;
  readonly podSandboxId: string;
  readonly labelSelector: Readonly<Record<string, string>>;
}
export const ContainerFilter: MessageType<ContainerFilter> = message('runtime.v1.ContainerFilter', () => ({ id: '', state: undefined, podSandboxId: '', labelSelector: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'state', () => ContainerStateValue],
  [3, 'podSandboxId', Kind.string],
  [4, 'labelSelector', Kind.string, Shape.map],
]);

export interface ListContainersRequest {
  readonly filter: ContainerFilter | undefined;
}
export const ListContainersRequest: MessageType<ListContainersRequest> = message('runtime.v1.ListContainersRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ContainerFilter],
]);

/** One line of a list; ContainerStatus is the whole story. */
export interface Container {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata: ContainerMetadata | undefined;
  readonly image: ImageSpec | undefined;
  readonly imageRef: string;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly imageId: string;
}
export const Container: MessageType<Container> = message('runtime.v1.Container', () => ({ id: '', podSandboxId: '', metadata: undefined, image: undefined, imageRef: '', state: 0, createdAt: 0n, labels: NO_ENTRIES, annotations: NO_ENTRIES, imageId: '' }), [
  [1, 'id', Kind.string],
  [2, 'podSandboxId', Kind.string],
  [3, 'metadata', () => ContainerMetadata],
  [4, 'image', () => ImageSpec],
  [5, 'imageRef', Kind.string],
  [6, 'state', ContainerState],
  [7, 'createdAt', Kind.int64],
  [8, 'labels', Kind.string, Shape.map],
  [9, 'annotations', Kind.string, Shape.map],
  [10, 'imageId', Kind.string],
]);

export interface ListContainersResponse {
  readonly containers: readonly Container[];
}
export const ListContainersResponse: MessageType<ListContainersResponse> = message('runtime.v1.ListContainersResponse', () => ({ containers: NO_ITEMS }), [
  [1, 'containers', () => Container, Shape.list],
]);

export interface StreamContainersRequest {
  readonly filter: ContainerFilter | undefined;
}
export const StreamContainersRequest: MessageType<StreamContainersRequest> = message('runtime.v1.StreamContainersRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ContainerFilter],
]);

export interface StreamContainersResponse {
  readonly containers: readonly Container[];
}
export const StreamContainersResponse: MessageType<StreamContainersResponse> = message('runtime.v1.StreamContainersResponse', () => ({ containers: NO_ITEMS }), [
  [1, 'containers', () => Container, Shape.list],
]);

export interface ContainerStatusRequest {
  readonly containerId: string;
  readonly verbose: boolean;
}
export const ContainerStatusRequest: MessageType<ContainerStatusRequest> = message('runtime.v1.ContainerStatusRequest', () => ({ containerId: '', verbose: false }), [
  [1, 'containerId', Kind.string],
  [2, 'verbose', Kind.bool],
]);

export interface ContainerStatus {
  readonly id: string;
  readonly metadata: ContainerMetadata | undefined;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  readonly startedAt: bigint;
  readonly finishedAt: bigint;
  readonly exitCode: number;
  readonly image: ImageSpec | undefined;
  readonly imageRef: string;
  readonly reason: string;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly logPath: string;
  readonly resources: ContainerResources | undefined;
  readonly imageId: string;
  readonly user: ContainerUser | undefined;
  readonly stopSignal: Signal;
}
export const ContainerStatus: MessageType<ContainerStatus> = message('runtime.v1.ContainerStatus', () => ({ id: '', metadata: undefined, state: 0, createdAt: 0n, startedAt: 0n, finishedAt: 0n, exitCode: 0, image: undefined, imageRef: '', reason: '', message: '', labels: NO_ENTRIES, annotations: NO_ENTRIES, mounts: NO_ITEMS, logPath: '', resources: undefined, imageId: '', user: undefined, stopSignal: 0 }), [
  [1, 'id', Kind.string],
  [2, 'metadata', () => ContainerMetadata],
  [3, 'state', ContainerState],
  [4, 'createdAt', Kind.int64],
  [5, 'startedAt', Kind.int64],
  [6, 'finishedAt', Kind.int64],
  [7, 'exitCode', Kind.int32],
  [8, 'image', () => ImageSpec],
  [9, 'imageRef', Kind.string],
  [10, 'reason', Kind.string],
  [11, 'message', Kind.string],
  [12, 'labels', Kind.string, Shape.map],
  [13, 'annotations', Kind.string, Shape.map],
  [14, 'mounts', () => Mount, Shape.list],
  [15, 'logPath', Kind.string],
  [16, 'resources', () => ContainerResources],
  [17, 'imageId', Kind.string],
  [18, 'user', () => ContainerUser],
  [19, 'stopSignal', Signal],
]);

export interface ContainerStatusResponse {
  readonly status: ContainerStatus | undefined;
  readonly info: Readonly<Record<string, string>>;
}
export const ContainerStatusResponse: MessageType<ContainerStatusResponse> = message('runtime.v1.ContainerStatusResponse', () => ({ status: undefined, info: NO_ENTRIES }), [
  [1, 'status', () => ContainerStatus],
  [2, 'info', Kind.string, Shape.map],
]);

export interface ContainerResources {
  readonly linux: LinuxContainerResources | undefined;
}
export const ContainerResources: MessageType<ContainerResources> = message('runtime.v1.ContainerResources', () => ({ linux: undefined }), [
  [1, 'linux', () => LinuxContainerResources],
]);

export interface ContainerUser {
  readonly linux: LinuxContainerUser | undefined;
}
export const ContainerUser: MessageType<ContainerUser> = message('runtime.v1.ContainerUser', () => ({ linux: undefined }), [
  [1, 'linux', () => LinuxContainerUser],
]);

export interface UpdateContainerResourcesRequest {
  readonly containerId: string;
  readonly linux: LinuxContainerResources | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}
export const UpdateContainerResourcesRequest: MessageType<UpdateContainerResourcesRequest> = message('runtime.v1.UpdateContainerResourcesRequest', () => ({ containerId: '', linux: undefined, annotations: NO_ENTRIES }), [
  [1, 'containerId', Kind.string],
  [2, 'linux', () => LinuxContainerResources],
  [4, 'annotations', Kind.string, Shape.map],
]);

export interface ExecSyncRequest {
  readonly containerId: string;
  readonly cmd: readonly string[];
  /** Seconds; 0 means no limit. */
  readonly timeout: number;
}
export const ExecSyncRequest: MessageType<ExecSyncRequest> = message('runtime.v1.ExecSyncRequest', () => ({ containerId: '', cmd: NO_ITEMS, timeout: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'cmd', Kind.string, Shape.list],
  [3, 'timeout', Kind.int64Number],
]);

export interface ExecSyncResponse {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number;
}
export const ExecSyncResponse: MessageType<ExecSyncResponse> = message('runtime.v1.ExecSyncResponse', () => ({ stdout: NO_BYTES, stderr: NO_BYTES, exitCode: 0 }), [
  [1, 'stdout', Kind.bytes],
  [2, 'stderr', Kind.bytes],
  [3, 'exitCode', Kind.int32],
]);

export interface ExecRequest {
  readonly containerId: string;
  readonly cmd: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}
export const ExecRequest: MessageType<ExecRequest> = message('runtime.v1.ExecRequest', () => ({ containerId: '', cmd: NO_ITEMS, tty: false, stdin: false, stdout: false, stderr: false }), [
  [1, 'containerId', Kind.string],
  [2, 'cmd', Kind.string, Shape.list],
  [3, 'tty', Kind.bool],
  [4, 'stdin', Kind.bool],
  [5, 'stdout', Kind.bool],
  [6, 'stderr', Kind.bool],
]);

export interface ExecResponse {
  readonly url: string;
}
export const ExecResponse: MessageType<ExecResponse> = message('runtime.v1.ExecResponse', () => ({ url: '' }), [
  [1, 'url', Kind.string],
]);

export interface AttachRequest {
  readonly containerId: string;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}
export const AttachRequest: MessageType<AttachRequest> = message('runtime.v1.AttachRequest', () => ({ containerId: '', stdin: false, tty: false, stdout: false, stderr: false }), [
  [1, 'containerId', Kind.string],
  [2, 'stdin', Kind.bool],
  [3, 'tty', Kind.bool],
  [4, 'stdout', Kind.bool],
  [5, 'stderr', Kind.bool],
]);

export interface AttachResponse {
  readonly url: string;
}
export const AttachResponse: MessageType<AttachResponse> = message('runtime.v1.AttachResponse', () => ({ url: '' }), [
  [1, 'url', Kind.string],
]);

export interface PortForwardRequest {
  readonly podSandboxId: string;
  readonly port: readonly number[];
}
export const PortForwardRequest: MessageType<PortForwardRequest> = message('runtime.v1.PortForwardRequest', () => ({ podSandboxId: '', port: NO_ITEMS }), [
  [1, 'podSandboxId', Kind.string],
  [2, 'port', Kind.int32, Shape.list],
]);

export interface PortForwardResponse {
  readonly url: string;
}
export const PortForwardResponse: MessageType<PortForwardResponse> = message('runtime.v1.PortForwardResponse', () => ({ url: '' }), [
  [1, 'url', Kind.string],
]);

export interface ImageFilter {
  readonly image: ImageSpec | undefined;
}
export const ImageFilter: MessageType<ImageFilter> = message('runtime.v1.ImageFilter', () => ({ image: undefined }), [
  [1, 'image', () => ImageSpec],
]);

export interface ListImagesRequest {
  readonly filter: ImageFilter | undefined;
}
export const ListImagesRequest: MessageType<ListImagesRequest> = message('runtime.v1.ListImagesRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ImageFilter],
]);

export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  /** Bytes. */
  readonly size: number;
  readonly uid: Int64Value | undefined;
  readonly username: string;
  readonly spec: ImageSpec | undefined;
  readonly pinned: boolean;
}
export const Image: MessageType<Image> = message('runtime.v1.Image', () => ({ id: '', repoTags: NO_ITEMS, repoDigests: NO_ITEMS, size: 0, uid: undefined, username: '', spec: undefined, pinned: false }), [
  [1, 'id', Kind.string],
  [2, 'repoTags', Kind.string, Shape.list],
  [3, 'repoDigests', Kind.string, Shape.list],
  [4, 'size', Kind.uint64Number],
  [5, 'uid', () => Int64Value],
  [6, 'username', Kind.string],
  [7, 'spec', () => ImageSpec],
  [8, 'pinned', Kind.bool],
]);

export interface ListImagesResponse {
  readonly images: readonly Image[];
}
export const ListImagesResponse: MessageType<ListImagesResponse> = message('runtime.v1.ListImagesResponse', () => ({ images: NO_ITEMS }), [
  [1, 'images', () => Image, Shape.list],
]);

export interface StreamImagesRequest {
  readonly filter: ImageFilter | undefined;
}
export const StreamImagesRequest: MessageType<StreamImagesRequest> = message('runtime.v1.StreamImagesRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ImageFilter],
]);

export interface StreamImagesResponse {
  readonly images: readonly Image[];
}
export const StreamImagesResponse: MessageType<StreamImagesResponse> = message('runtime.v1.StreamImagesResponse', () => ({ images: NO_ITEMS }), [
  [1, 'images', () => Image, Shape.list],
]);

export interface ImageStatusRequest {
  readonly image: ImageSpec | undefined;
  readonly verbose: boolean;
}
export const ImageStatusRequest: MessageType<ImageStatusRequest> = message('runtime.v1.ImageStatusRequest', () => ({ image: undefined, verbose: false }), [
  [1, 'image', () => ImageSpec],
  [2, 'verbose', Kind.bool],
]);

export interface ImageStatusResponse {
  readonly image: Image | undefined;
  readonly info: Readonly<Record<string, string>>;
}
export const ImageStatusResponse: MessageType<ImageStatusResponse> = message('runtime.v1.ImageStatusResponse', () => ({ image: undefined, info: NO_ENTRIES }), [
  [1, 'image', () => Image],
  [2, 'info', Kind.string, Shape.map],
]);

export interface AuthConfig {
  readonly username: string;
  readonly password: string;
  readonly auth: string;
  readonly serverAddress: string;
  readonly identityToken: string;
  readonly registryToken: string;
}
export const AuthConfig: MessageType<AuthConfig> = message('runtime.v1.AuthConfig', () => ({ username: '', password: '', auth: '', serverAddress: '', identityToken: '', registryToken: '' }), [
  [1, 'username', Kind.string],
  [2, 'password', Kind.string],
  [3, 'auth', Kind.string],
  [4, 'serverAddress', Kind.string],
  [5, 'identityToken', Kind.string],
  [6, 'registryToken', Kind.string],
]);

export interface PullImageRequest {
  readonly image: ImageSpec | undefined;
  readonly auth: AuthConfig | undefined;
  readonly sandboxConfig: PodSandboxConfig | undefined;
}
export const PullImageRequest: MessageType<PullImageRequest> = message('runtime.v1.PullImageRequest', () => ({ image: undefined, auth: undefined, sandboxConfig: undefined }), [
  [1, 'image', () => ImageSpec],
  [2, 'auth', () => AuthConfig],
  [3, 'sandboxConfig', () => PodSandboxConfig],
]);

export interface PullImageResponse {
  readonly imageRef: string;
}
export const PullImageResponse: MessageType<PullImageResponse> = message('runtime.v1.PullImageResponse', () => ({ imageRef: '' }), [
  [1, 'imageRef', Kind.string],
]);

export interface RemoveImageRequest {
  readonly image: ImageSpec | undefined;
}
export const RemoveImageRequest: MessageType<RemoveImageRequest> = message('runtime.v1.RemoveImageRequest', () => ({ image: undefined }), [
  [1, 'image', () => ImageSpec],
]);

export interface NetworkConfig {
  readonly podCidr: string;
}
export const NetworkConfig: MessageType<NetworkConfig> = message('runtime.v1.NetworkConfig', () => ({ podCidr: '' }), [
  [1, 'podCidr', Kind.string],
]);

export interface RuntimeConfig {
  readonly networkConfig: NetworkConfig | undefined;
}
export const RuntimeConfig: MessageType<RuntimeConfig> = message('runtime.v1.RuntimeConfig', () => ({ networkConfig: undefined }), [
  [1, 'networkConfig', () => NetworkConfig],
]);

export interface UpdateRuntimeConfigRequest {
  readonly runtimeConfig: RuntimeConfig | undefined;
}
export const UpdateRuntimeConfigRequest: MessageType<UpdateRuntimeConfigRequest> = message('runtime.v1.UpdateRuntimeConfigRequest', () => ({ runtimeConfig: undefined }), [
  [1, 'runtimeConfig', () => RuntimeConfig],
]);

export interface RuntimeCondition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}
export const RuntimeCondition: MessageType<RuntimeCondition> = message('runtime.v1.RuntimeCondition', () => ({ type: '', status: false, reason: '', message: '' }), [
  [1, 'type', Kind.string],
  [2, 'status', Kind.bool],
  [3, 'reason', Kind.string],
  [4, 'message', Kind.string],
]);

export interface RuntimeStatus {
  readonly conditions: readonly RuntimeCondition[];
}
export const RuntimeStatus: MessageType<RuntimeStatus> = message('runtime.v1.RuntimeStatus', () => ({ conditions: NO_ITEMS }), [
  [1, 'conditions', () => RuntimeCondition, Shape.list],
]);

export interface StatusRequest {
  readonly verbose: boolean;
}
export const StatusRequest: MessageType<StatusRequest> = message('runtime.v1.StatusRequest', () => ({ verbose: false }), [
  [1, 'verbose', Kind.bool],
]);

export interface RuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}
export const RuntimeHandlerFeatures: MessageType<RuntimeHandlerFeatures> = message('runtime.v1.RuntimeHandlerFeatures', () => ({ recursiveReadOnlyMounts: false, userNamespaces: false }), [
  [1, 'recursiveReadOnlyMounts', Kind.bool],
  [2, 'userNamespaces', Kind.bool],
]);

export interface RuntimeHandler {
  /** Empty for the default handler. */
  readonly name: string;
  readonly features: RuntimeHandlerFeatures | undefined;
}
export const RuntimeHandler: MessageType<RuntimeHandler> = message('runtime.v1.RuntimeHandler', () => ({ name: '', features: undefined }), [
  [1, 'name', Kind.string],
  [2, 'features', () => RuntimeHandlerFeatures],
]);

export interface RuntimeFeatures {
  readonly supplementalGroupsPolicy: boolean;
  readonly userNamespacesHostNetwork: boolean;
}
export const RuntimeFeatures: MessageType<RuntimeFeatures> = message('runtime.v1.RuntimeFeatures', () => ({ supplementalGroupsPolicy: false, userNamespacesHostNetwork: false }), [
  [1, 'supplementalGroupsPolicy', Kind.bool],
  [2, 'userNamespacesHostNetwork', Kind.bool],
]);

export interface StatusResponse {
  readonly status: RuntimeStatus | undefined;
  readonly info: Readonly<Record<string, string>>;
  readonly runtimeHandlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
}
export const StatusResponse: MessageType<StatusResponse> = message('runtime.v1.StatusResponse', () => ({ status: undefined, info: NO_ENTRIES, runtimeHandlers: NO_ITEMS, features: undefined }), [
  [1, 'status', () => RuntimeStatus],
  [2, 'info', Kind.string, Shape.map],
  [3, 'runtimeHandlers', () => RuntimeHandler, Shape.list],
  [4, 'features', () => RuntimeFeatures],
]);

export interface UInt64Value {
  readonly value: number;
}
export const UInt64Value: MessageType<UInt64Value> = message('runtime.v1.UInt64Value', () => ({ value: 0 }), [
  [1, 'value', Kind.uint64Number],
]);

export interface FilesystemIdentifier {
  readonly mountpoint: string;
}
export const FilesystemIdentifier: MessageType<FilesystemIdentifier> = message('runtime.v1.FilesystemIdentifier', () => ({ mountpoint: '' }), [
  [1, 'mountpoint', Kind.string],
]);

export interface FilesystemUsage {
  readonly timestamp: bigint;
  readonly fsId: FilesystemIdentifier | undefined;
  readonly usedBytes: UInt64Value | undefined;
  readonly inodesUsed: UInt64Value | undefined;
}
export const FilesystemUsage: MessageType<FilesystemUsage> = message('runtime.v1.FilesystemUsage', () => ({ timestamp: 0n, fsId: undefined, usedBytes: undefined, inodesUsed: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'fsId', () => FilesystemIdentifier],
  [3, 'usedBytes', () => UInt64Value],
  [4, 'inodesUsed', () => UInt64Value],
]);

export interface ImageFsInfoResponse {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
}
export const ImageFsInfoResponse: MessageType<ImageFsInfoResponse> = message('runtime.v1.ImageFsInfoResponse', () => ({ imageFilesystems: NO_ITEMS, containerFilesystems: NO_ITEMS }), [
  [1, 'imageFilesystems', () => FilesystemUsage, Shape.list],
  [2, 'containerFilesystems', () => FilesystemUsage, Shape.list],
]);

export interface ContainerStatsRequest {
  readonly containerId: string;
}
export const ContainerStatsRequest: MessageType<ContainerStatsRequest> = message('runtime.v1.ContainerStatsRequest', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface ContainerStatsResponse {
  readonly stats: ContainerStats | undefined;
}
export const ContainerStatsResponse: MessageType<ContainerStatsResponse> = message('runtime.v1.ContainerStatsResponse', () => ({ stats: undefined }), [
  [1, 'stats', () => ContainerStats],
]);

export interface ListContainerStatsRequest {
  readonly filter: ContainerStatsFilter | undefined;
}
export const ListContainerStatsRequest: MessageType<ListContainerStatsRequest> = message('runtime.v1.ListContainerStatsRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ContainerStatsFilter],
]);

export interface ContainerStatsFilter {
  readonly id: string;
  readonly podSandboxId: string;
  readonly labelSelector: Readonly<Record<string, string>>;
}
export const ContainerStatsFilter: MessageType<ContainerStatsFilter> = message('runtime.v1.ContainerStatsFilter', () => ({ id: '', podSandboxId: '', labelSelector: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'podSandboxId', Kind.string],
  [3, 'labelSelector', Kind.string, Shape.map],
]);

export interface ListContainerStatsResponse {
  readonly stats: readonly ContainerStats[];
}
export const ListContainerStatsResponse: MessageType<ListContainerStatsResponse> = message('runtime.v1.ListContainerStatsResponse', () => ({ stats: NO_ITEMS }), [
  [1, 'stats', () => ContainerStats, Shape.list],
]);

export interface StreamContainerStatsRequest {
  readonly filter: ContainerStatsFilter | undefined;
}
export const StreamContainerStatsRequest: MessageType<StreamContainerStatsRequest> = message('runtime.v1.StreamContainerStatsRequest', () => ({ filter: undefined }), [
  [1, 'filter', () => ContainerStatsFilter],
]);

export interface StreamContainerStatsResponse {
  readonly containerStats: readonly ContainerStats[];
}
export const StreamContainerStatsResponse: MessageType<StreamContainerStatsResponse> = message('runtime.v1.StreamContainerStatsResponse', () => ({ containerStats: NO_ITEMS }), [
  [1, 'containerStats', () => ContainerStats, Shape.list],
]);

export interface ContainerAttributes {
  readonly id: string;
  readonly metadata: ContainerMetadata | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
export const ContainerAttributes: MessageType<ContainerAttributes> = message('runtime.v1.ContainerAttributes', () => ({ id: '', metadata: undefined, labels: NO_ENTRIES, annotations: NO_ENTRIES }), [
  [1, 'id', Kind.string],
  [2, 'metadata', () => ContainerMetadata],
  [3, 'labels', Kind.string, Shape.map],
  [4, 'annotations', Kind.string, Shape.map],
]);

export interface ContainerStats {
  readonly attributes: ContainerAttributes | undefined;
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly writableLayer: FilesystemUsage | undefined;
  readonly swap: SwapUsage | undefined;
  readonly io: IoUsage | undefined;
}
export const ContainerStats: MessageType<ContainerStats> = message('runtime.v1.ContainerStats', () => ({ attributes: undefined, cpu: undefined, memory: undefined, writableLayer: undefined, swap: undefined, io: undefined }), [
  [1, 'attributes', () => ContainerAttributes],
  [2, 'cpu', () => CpuUsage],
  [3, 'memory', () => MemoryUsage],
  [4, 'writableLayer', () => FilesystemUsage],
  [5, 'swap', () => SwapUsage],
  [6, 'io', () => IoUsage],
]);

export interface PsiStats {
  readonly full: PsiData | undefined;
  readonly some: PsiData | undefined;
}
export const PsiStats: MessageType<PsiStats> = message('runtime.v1.PsiStats', () => ({ full: undefined, some: undefined }), [
  [1, 'full', () => PsiData],
  [2, 'some', () => PsiData],
]);

export interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}
export const PsiData: MessageType<PsiData> = message('runtime.v1.PsiData', () => ({ total: 0, avg10: 0, avg60: 0, avg300: 0 }), [
  [1, 'total', Kind.uint64Number],
  [2, 'avg10', Kind.double],
  [3, 'avg60', Kind.double],
  [4, 'avg300', Kind.double],
]);

export interface CpuUsage {
  readonly timestamp: bigint;
  readonly usageCoreNanoSeconds: UInt64Value | undefined;
  readonly usageNanoCores: UInt64Value | undefined;
  readonly psi: PsiStats | undefined;
}
export const CpuUsage: MessageType<CpuUsage> = message('runtime.v1.CpuUsage', () => ({ timestamp: 0n, usageCoreNanoSeconds: undefined, usageNanoCores: undefined, psi: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'usageCoreNanoSeconds', () => UInt64Value],
  [3, 'usageNanoCores', () => UInt64Value],
  [4, 'psi', () => PsiStats],
]);

export interface MemoryUsage {
  readonly timestamp: bigint;
  readonly workingSetBytes: UInt64Value | undefined;
  readonly availableBytes: UInt64Value | undefined;
  readonly usageBytes: UInt64Value | undefined;
  readonly rssBytes: UInt64Value | undefined;
  readonly pageFaults: UInt64Value | undefined;
  readonly majorPageFaults: UInt64Value | undefined;
  readonly psi: PsiStats | undefined;
}
export const MemoryUsage: MessageType<MemoryUsage> = message('runtime.v1.MemoryUsage', () => ({ timestamp: 0n, workingSetBytes: undefined, availableBytes: undefined, usageBytes: undefined, rssBytes: undefined, pageFaults: undefined, majorPageFaults: undefined, psi: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'workingSetBytes', () => UInt64Value],
  [3, 'availableBytes', () => UInt64Value],
  [4, 'usageBytes', () => UInt64Value],
  [5, 'rssBytes', () => UInt64Value],
  [6, 'pageFaults', () => UInt64Value],
  [7, 'majorPageFaults', () => UInt64Value],
  [8, 'psi', () => PsiStats],
]);

export interface IoUsage {
  readonly timestamp: bigint;
  readonly psi: PsiStats | undefined;
}
export const IoUsage: MessageType<IoUsage> = message('runtime.v1.IoUsage', () => ({ timestamp: 0n, psi: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'psi', () => PsiStats],
]);

export interface SwapUsage {
  readonly timestamp: bigint;
  readonly swapAvailableBytes: UInt64Value | undefined;
  readonly swapUsageBytes: UInt64Value | undefined;
}
export const SwapUsage: MessageType<SwapUsage> = message('runtime.v1.SwapUsage', () => ({ timestamp: 0n, swapAvailableBytes: undefined, swapUsageBytes: undefined }), [
  [1, 'timestamp', Kind.int64],
  [2, 'swapAvailableBytes', () => UInt64Value],
  [3, 'swapUsageBytes', () => UInt64Value],
]);

export interface ReopenContainerLogRequest {
  readonly containerId: string;
}
export const ReopenContainerLogRequest: MessageType<ReopenContainerLogRequest> = message('runtime.v1.ReopenContainerLogRequest', () => ({ containerId: '' }), [
  [1, 'containerId', Kind.string],
]);

export interface CheckpointContainerRequest {
  readonly containerId: string;
  readonly location: string;
  /** Seconds; 0 means the runtime's own limit. */
  readonly timeout: number;
}
export const CheckpointContainerRequest: MessageType<CheckpointContainerRequest> = message('runtime.v1.CheckpointContainerRequest', () => ({ containerId: '', location: '', timeout: 0 }), [
  [1, 'containerId', Kind.string],
  [2, 'location', Kind.string],
  [3, 'timeout', Kind.int64Number],
]);

/** Carries the statuses as they were, so an event is a reading with a date. */
export interface ContainerEventResponse {
  readonly containerId: string;
  readonly containerEventType: ContainerEventType;
  readonly createdAt: bigint;
  readonly podSandboxStatus: PodSandboxStatus | undefined;
  readonly containersStatuses: readonly ContainerStatus[];
}
export const ContainerEventResponse: MessageType<ContainerEventResponse> = message('runtime.v1.ContainerEventResponse', () => ({ containerId: '', containerEventType: 0, createdAt: 0n, podSandboxStatus: undefined, containersStatuses: NO_ITEMS }), [
  [1, 'containerId', Kind.string],
  [2, 'containerEventType', ContainerEventType],
  [3, 'createdAt', Kind.int64],
  [4, 'podSandboxStatus', () => PodSandboxStatus],
  [5, 'containersStatuses', () => ContainerStatus, Shape.list],
]);

export interface ListMetricDescriptorsResponse {
  readonly descriptors: readonly MetricDescriptor[];
}
export const ListMetricDescriptorsResponse: MessageType<ListMetricDescriptorsResponse> = message('runtime.v1.ListMetricDescriptorsResponse', () => ({ descriptors: NO_ITEMS }), [
  [1, 'descriptors', () => MetricDescriptor, Shape.list],
]);

export interface MetricDescriptor {
  readonly name: string;
  readonly help: string;
  readonly labelKeys: readonly string[];
}
export const MetricDescriptor: MessageType<MetricDescriptor> = message('runtime.v1.MetricDescriptor', () => ({ name: '', help: '', labelKeys: NO_ITEMS }), [
  [1, 'name', Kind.string],
  [2, 'help', Kind.string],
  [3, 'labelKeys', Kind.string, Shape.list],
]);

export interface ListPodSandboxMetricsResponse {
  readonly podMetrics: readonly PodSandboxMetrics[];
}
export const ListPodSandboxMetricsResponse: MessageType<ListPodSandboxMetricsResponse> = message('runtime.v1.ListPodSandboxMetricsResponse', () => ({ podMetrics: NO_ITEMS }), [
  [1, 'podMetrics', () => PodSandboxMetrics, Shape.list],
]);

export interface StreamPodSandboxMetricsResponse {
  readonly podSandboxMetrics: readonly PodSandboxMetrics[];
}
export const StreamPodSandboxMetricsResponse: MessageType<StreamPodSandboxMetricsResponse> = message('runtime.v1.StreamPodSandboxMetricsResponse', () => ({ podSandboxMetrics: NO_ITEMS }), [
  [1, 'podSandboxMetrics', () => PodSandboxMetrics, Shape.list],
]);

export interface PodSandboxMetrics {
  readonly podSandboxId: string;
  readonly metrics: readonly Metric[];
  readonly containerMetrics: readonly ContainerMetrics[];
}
export const PodSandboxMetrics: MessageType<PodSandboxMetrics> = message('runtime.v1.PodSandboxMetrics', () => ({ podSandboxId: '', metrics: NO_ITEMS, containerMetrics: NO_ITEMS }), [
  [1, 'podSandboxId', Kind.string],
  [2, 'metrics', () => Metric, Shape.list],
  [3, 'containerMetrics', () => ContainerMetrics, Shape.list],
]);

export interface ContainerMetrics {
  readonly containerId: string;
  readonly metrics: readonly Metric[];
}
export const ContainerMetrics: MessageType<ContainerMetrics> = message('runtime.v1.ContainerMetrics', () => ({ containerId: '', metrics: NO_ITEMS }), [
  [1, 'containerId', Kind.string],
  [2, 'metrics', () => Metric, Shape.list],
]);

export interface Metric {
  readonly name: string;
  readonly timestamp: bigint;
  readonly metricType: MetricType;
  readonly labelValues: readonly string[];
  readonly value: UInt64Value | undefined;
}
export const Metric: MessageType<Metric> = message('runtime.v1.Metric', () => ({ name: '', timestamp: 0n, metricType: 0, labelValues: NO_ITEMS, value: undefined }), [
  [1, 'name', Kind.string],
  [2, 'timestamp', Kind.int64],
  [3, 'metricType', MetricType],
  [4, 'labelValues', Kind.string, Shape.list],
  [5, 'value', () => UInt64Value],
]);

export interface RuntimeConfigResponse {
  readonly linux: LinuxRuntimeConfiguration | undefined;
}
export const RuntimeConfigResponse: MessageType<RuntimeConfigResponse> = message('runtime.v1.RuntimeConfigResponse', () => ({ linux: undefined }), [
  [1, 'linux', () => LinuxRuntimeConfiguration],
]);

export interface LinuxRuntimeConfiguration {
  readonly cgroupDriver: CgroupDriver;
}
export const LinuxRuntimeConfiguration: MessageType<LinuxRuntimeConfiguration> = message('runtime.v1.LinuxRuntimeConfiguration', () => ({ cgroupDriver: 0 }), [
  [1, 'cgroupDriver', CgroupDriver],
]);

export interface UpdatePodSandboxResourcesRequest {
  readonly podSandboxId: string;
  readonly overhead: LinuxContainerResources | undefined;
  readonly resources: LinuxContainerResources | undefined;
}
export const UpdatePodSandboxResourcesRequest: MessageType<UpdatePodSandboxResourcesRequest> = message('runtime.v1.UpdatePodSandboxResourcesRequest', () => ({ podSandboxId: '', overhead: undefined, resources: undefined }), [
  [1, 'podSandboxId', Kind.string],
  [2, 'overhead', () => LinuxContainerResources],
  [3, 'resources', () => LinuxContainerResources],
]);

export interface StopPodSandboxResponse {}
export const StopPodSandboxResponse: MessageType<StopPodSandboxResponse> = message('runtime.v1.StopPodSandboxResponse', () => ({}), []);

export interface RemovePodSandboxResponse {}
export const RemovePodSandboxResponse: MessageType<RemovePodSandboxResponse> = message('runtime.v1.RemovePodSandboxResponse', () => ({}), []);

export interface StartContainerResponse {}
export const StartContainerResponse: MessageType<StartContainerResponse> = message('runtime.v1.StartContainerResponse', () => ({}), []);

export interface StopContainerResponse {}
export const StopContainerResponse: MessageType<StopContainerResponse> = message('runtime.v1.StopContainerResponse', () => ({}), []);

export interface RemoveContainerResponse {}
export const RemoveContainerResponse: MessageType<RemoveContainerResponse> = message('runtime.v1.RemoveContainerResponse', () => ({}), []);

export interface UpdateContainerResourcesResponse {}
export const UpdateContainerResourcesResponse: MessageType<UpdateContainerResourcesResponse> = message('runtime.v1.UpdateContainerResourcesResponse', () => ({}), []);

export interface ReopenContainerLogResponse {}
export const ReopenContainerLogResponse: MessageType<ReopenContainerLogResponse> = message('runtime.v1.ReopenContainerLogResponse', () => ({}), []);

export interface UpdateRuntimeConfigResponse {}
export const UpdateRuntimeConfigResponse: MessageType<UpdateRuntimeConfigResponse> = message('runtime.v1.UpdateRuntimeConfigResponse', () => ({}), []);

export interface CheckpointContainerResponse {}
export const CheckpointContainerResponse: MessageType<CheckpointContainerResponse> = message('runtime.v1.CheckpointContainerResponse', () => ({}), []);

export interface GetEventsRequest {}
export const GetEventsRequest: MessageType<GetEventsRequest> = message('runtime.v1.GetEventsRequest', () => ({}), []);

export interface ListMetricDescriptorsRequest {}
export const ListMetricDescriptorsRequest: MessageType<ListMetricDescriptorsRequest> = message('runtime.v1.ListMetricDescriptorsRequest', () => ({}), []);

export interface ListPodSandboxMetricsRequest {}
export const ListPodSandboxMetricsRequest: MessageType<ListPodSandboxMetricsRequest> = message('runtime.v1.ListPodSandboxMetricsRequest', () => ({}), []);

export interface StreamPodSandboxMetricsRequest {}
export const StreamPodSandboxMetricsRequest: MessageType<StreamPodSandboxMetricsRequest> = message('runtime.v1.StreamPodSandboxMetricsRequest', () => ({}), []);

export interface RuntimeConfigRequest {}
export const RuntimeConfigRequest: MessageType<RuntimeConfigRequest> = message('runtime.v1.RuntimeConfigRequest', () => ({}), []);

export interface UpdatePodSandboxResourcesResponse {}
export const UpdatePodSandboxResourcesResponse: MessageType<UpdatePodSandboxResourcesResponse> = message('runtime.v1.UpdatePodSandboxResourcesResponse', () => ({}), []);

export interface RemoveImageResponse {}
export const RemoveImageResponse: MessageType<RemoveImageResponse> = message('runtime.v1.RemoveImageResponse', () => ({}), []);

export interface ImageFsInfoRequest {}
export const ImageFsInfoRequest: MessageType<ImageFsInfoRequest> = message('runtime.v1.ImageFsInfoRequest', () => ({}), []);

export const RuntimeService = {
  version: { path: '/runtime.v1.RuntimeService/Version', request: VersionRequest, response: VersionResponse, serverStream: false } satisfies MethodType<VersionRequest, VersionResponse>,
  runPodSandbox: { path: '/runtime.v1.RuntimeService/RunPodSandbox', request: RunPodSandboxRequest, response: RunPodSandboxResponse, serverStream: false } satisfies MethodType<RunPodSandboxRequest, RunPodSandboxResponse>,
  stopPodSandbox: { path: '/runtime.v1.RuntimeService/StopPodSandbox', request: StopPodSandboxRequest, response: StopPodSandboxResponse, serverStream: false } satisfies MethodType<StopPodSandboxRequest, StopPodSandboxResponse>,
  removePodSandbox: { path: '/runtime.v1.RuntimeService/RemovePodSandbox', request: RemovePodSandboxRequest, response: RemovePodSandboxResponse, serverStream: false } satisfies MethodType<RemovePodSandboxRequest, RemovePodSandboxResponse>,
  podSandboxStatus: { path: '/runtime.v1.RuntimeService/PodSandboxStatus', request: PodSandboxStatusRequest, response: PodSandboxStatusResponse, serverStream: false } satisfies MethodType<PodSandboxStatusRequest, PodSandboxStatusResponse>,
  listPodSandbox: { path: '/runtime.v1.RuntimeService/ListPodSandbox', request: ListPodSandboxRequest, response: ListPodSandboxResponse, serverStream: false } satisfies MethodType<ListPodSandboxRequest, ListPodSandboxResponse>,
  streamPodSandboxes: { path: '/runtime.v1.RuntimeService/StreamPodSandboxes', request: StreamPodSandboxesRequest, response: StreamPodSandboxesResponse, serverStream: true } satisfies MethodType<StreamPodSandboxesRequest, StreamPodSandboxesResponse>,
  createContainer: { path: '/runtime.v1.RuntimeService/CreateContainer', request: CreateContainerRequest, response: CreateContainerResponse, serverStream: false } satisfies MethodType<CreateContainerRequest, CreateContainerResponse>,
  startContainer: { path: '/runtime.v1.RuntimeService/StartContainer', request: StartContainerRequest, response: StartContainerResponse, serverStream: false } satisfies MethodType<StartContainerRequest, StartContainerResponse>,
  stopContainer: { path: '/runtime.v1.RuntimeService/StopContainer', request: StopContainerRequest, response: StopContainerResponse, serverStream: false } satisfies MethodType<StopContainerRequest, StopContainerResponse>,
  removeContainer: { path: '/runtime.v1.RuntimeService/RemoveContainer', request: RemoveContainerRequest, response: RemoveContainerResponse, serverStream: false } satisfies MethodType<RemoveContainerRequest, RemoveContainerResponse>,
  listContainers: { path: '/runtime.v1.RuntimeService/ListContainers', request: ListContainersRequest, response: ListContainersResponse, serverStream: false } satisfies MethodType<ListContainersRequest, ListContainersResponse>,
  streamContainers: { path: '/runtime.v1.RuntimeService/StreamContainers', request: StreamContainersRequest, response: StreamContainersResponse, serverStream: true } satisfies MethodType<StreamContainersRequest, StreamContainersResponse>,
  containerStatus: { path: '/runtime.v1.RuntimeService/ContainerStatus', request: ContainerStatusRequest, response: ContainerStatusResponse, serverStream: false } satisfies MethodType<ContainerStatusRequest, ContainerStatusResponse>,
  updateContainerResources: { path: '/runtime.v1.RuntimeService/UpdateContainerResources', request: UpdateContainerResourcesRequest, response: UpdateContainerResourcesResponse, serverStream: false } satisfies MethodType<UpdateContainerResourcesRequest, UpdateContainerResourcesResponse>,
  reopenContainerLog: { path: '/runtime.v1.RuntimeService/ReopenContainerLog', request: ReopenContainerLogRequest, response: ReopenContainerLogResponse, serverStream: false } satisfies MethodType<ReopenContainerLogRequest, ReopenContainerLogResponse>,
  execSync: { path: '/runtime.v1.RuntimeService/ExecSync', request: ExecSyncRequest, response: ExecSyncResponse, serverStream: false } satisfies MethodType<ExecSyncRequest, ExecSyncResponse>,
  exec: { path: '/runtime.v1.RuntimeService/Exec', request: ExecRequest, response: ExecResponse, serverStream: false } satisfies MethodType<ExecRequest, ExecResponse>,
  attach: { path: '/runtime.v1.RuntimeService/Attach', request: AttachRequest, response: AttachResponse, serverStream: false } satisfies MethodType<AttachRequest, AttachResponse>,
  portForward: { path: '/runtime.v1.RuntimeService/PortForward', request: PortForwardRequest, response: PortForwardResponse, serverStream: false } satisfies MethodType<PortForwardRequest, PortForwardResponse>,
  containerStats: { path: '/runtime.v1.RuntimeService/ContainerStats', request: ContainerStatsRequest, response: ContainerStatsResponse, serverStream: false } satisfies MethodType<ContainerStatsRequest, ContainerStatsResponse>,
  listContainerStats: { path: '/runtime.v1.RuntimeService/ListContainerStats', request: ListContainerStatsRequest, response: ListContainerStatsResponse, serverStream: false } satisfies MethodType<ListContainerStatsRequest, ListContainerStatsResponse>,
  streamContainerStats: { path: '/runtime.v1.RuntimeService/StreamContainerStats', request: StreamContainerStatsRequest, response: StreamContainerStatsResponse, serverStream: true } satisfies MethodType<StreamContainerStatsRequest, StreamContainerStatsResponse>,
  podSandboxStats: { path: '/runtime.v1.RuntimeService/PodSandboxStats', request: PodSandboxStatsRequest, response: PodSandboxStatsResponse, serverStream: false } satisfies MethodType<PodSandboxStatsRequest, PodSandboxStatsResponse>,
  listPodSandboxStats: { path: '/runtime.v1.RuntimeService/ListPodSandboxStats', request: ListPodSandboxStatsRequest, response: ListPodSandboxStatsResponse, serverStream: false } satisfies MethodType<ListPodSandboxStatsRequest, ListPodSandboxStatsResponse>,
  streamPodSandboxStats: { path: '/runtime.v1.RuntimeService/StreamPodSandboxStats', request: StreamPodSandboxStatsRequest, response: StreamPodSandboxStatsResponse, serverStream: true } satisfies MethodType<StreamPodSandboxStatsRequest, StreamPodSandboxStatsResponse>,
  updateRuntimeConfig: { path: '/runtime.v1.RuntimeService/UpdateRuntimeConfig', request: UpdateRuntimeConfigRequest, response: UpdateRuntimeConfigResponse, serverStream: false } satisfies MethodType<UpdateRuntimeConfigRequest, UpdateRuntimeConfigResponse>,
  status: { path: '/runtime.v1.RuntimeService/Status', request: StatusRequest, response: StatusResponse, serverStream: false } satisfies MethodType<StatusRequest, StatusResponse>,
  checkpointContainer: { path: '/runtime.v1.RuntimeService/CheckpointContainer', request: CheckpointContainerRequest, response: CheckpointContainerResponse, serverStream: false } satisfies MethodType<CheckpointContainerRequest, CheckpointContainerResponse>,
  getContainerEvents: { path: '/runtime.v1.RuntimeService/GetContainerEvents', request: GetEventsRequest, response: ContainerEventResponse, serverStream: true } satisfies MethodType<GetEventsRequest, ContainerEventResponse>,
  listMetricDescriptors: { path: '/runtime.v1.RuntimeService/ListMetricDescriptors', request: ListMetricDescriptorsRequest, response: ListMetricDescriptorsResponse, serverStream: false } satisfies MethodType<ListMetricDescriptorsRequest, ListMetricDescriptorsResponse>,
  listPodSandboxMetrics: { path: '/runtime.v1.RuntimeService/ListPodSandboxMetrics', request: ListPodSandboxMetricsRequest, response: ListPodSandboxMetricsResponse, serverStream: false } satisfies MethodType<ListPodSandboxMetricsRequest, ListPodSandboxMetricsResponse>,
  streamPodSandboxMetrics: { path: '/runtime.v1.RuntimeService/StreamPodSandboxMetrics', request: StreamPodSandboxMetricsRequest, response: StreamPodSandboxMetricsResponse, serverStream: true } satisfies MethodType<StreamPodSandboxMetricsRequest, StreamPodSandboxMetricsResponse>,
  runtimeConfig: { path: '/runtime.v1.RuntimeService/RuntimeConfig', request: RuntimeConfigRequest, response: RuntimeConfigResponse, serverStream: false } satisfies MethodType<RuntimeConfigRequest, RuntimeConfigResponse>,
  updatePodSandboxResources: { path: '/runtime.v1.RuntimeService/UpdatePodSandboxResources', request: UpdatePodSandboxResourcesRequest, response: UpdatePodSandboxResourcesResponse, serverStream: false } satisfies MethodType<UpdatePodSandboxResourcesRequest, UpdatePodSandboxResourcesResponse>,
};

export const ImageService = {
  listImages: { path: '/runtime.v1.ImageService/ListImages', request: ListImagesRequest, response: ListImagesResponse, serverStream: false } satisfies MethodType<ListImagesRequest, ListImagesResponse>,
  streamImages: { path: '/runtime.v1.ImageService/StreamImages', request: StreamImagesRequest, response: StreamImagesResponse, serverStream: true } satisfies MethodType<StreamImagesRequest, StreamImagesResponse>,
  imageStatus: { path: '/runtime.v1.ImageService/ImageStatus', request: ImageStatusRequest, response: ImageStatusResponse, serverStream: false } satisfies MethodType<ImageStatusRequest, ImageStatusResponse>,
  pullImage: { path: '/runtime.v1.ImageService/PullImage', request: PullImageRequest, response: PullImageResponse, serverStream: false } satisfies MethodType<PullImageRequest, PullImageResponse>,
  removeImage: { path: '/runtime.v1.ImageService/RemoveImage', request: RemoveImageRequest, response: RemoveImageResponse, serverStream: false } satisfies MethodType<RemoveImageRequest, RemoveImageResponse>,
  imageFsInfo: { path: '/runtime.v1.ImageService/ImageFsInfo', request: ImageFsInfoRequest, response: ImageFsInfoResponse, serverStream: false } satisfies MethodType<ImageFsInfoRequest, ImageFsInfoResponse>,
};
