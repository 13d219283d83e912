// Made from proto/device-plugin-v1beta1.proto by tools/generate-wire.ts. Do not edit.
// Device plugins v1beta1: Registration is served by the kubelet, DevicePlugin by each plugin. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ENTRIES, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';

export interface DevicePluginOptions {
  readonly preStartRequired: boolean;
  readonly getPreferredAllocationAvailable: boolean;
}
export const DevicePluginOptions: MessageType<DevicePluginOptions> = message('v1beta1.DevicePluginOptions', () => ({ preStartRequired: false, getPreferredAllocationAvailable: false }), [
  [1, 'preStartRequired', Kind.bool],
  [2, 'getPreferredAllocationAvailable', Kind.bool],
]);

export interface RegisterRequest {
  readonly version: string;
  readonly endpoint: string;
  readonly resourceName: string;
  readonly options: DevicePluginOptions | undefined;
}
export const RegisterRequest: MessageType<RegisterRequest> = message('v1beta1.RegisterRequest', () => ({ version: '', endpoint: '', resourceName: '', options: undefined }), [
  [1, 'version', Kind.string],
  [2, 'endpoint', Kind.string],
  [3, 'resourceName', Kind.string],
  [4, 'options', () => DevicePluginOptions],
]);

export interface ListAndWatchResponse {
  readonly devices: readonly Device[];
}
export const ListAndWatchResponse: MessageType<ListAndWatchResponse> = message('v1beta1.ListAndWatchResponse', () => ({ devices: NO_ITEMS }), [
  [1, 'devices', () => Device, Shape.list],
]);

export interface TopologyInfo {
  readonly nodes: readonly NUMANode[];
}
export const TopologyInfo: MessageType<TopologyInfo> = message('v1beta1.TopologyInfo', () => ({ nodes: NO_ITEMS }), [
  [1, 'nodes', () => NUMANode, Shape.list],
]);

export interface NUMANode {
  readonly id: number;
}
export const NUMANode: MessageType<NUMANode> = message('v1beta1.NUMANode', () => ({ id: 0 }), [
  [1, 'id', Kind.int64Number],
]);

export interface Device {
  readonly id: string;
  readonly health: string;
  readonly topology: TopologyInfo | undefined;
}
export const Device: MessageType<Device> = message('v1beta1.Device', () => ({ id: '', health: '', topology: undefined }), [
  [1, 'id', Kind.string],
  [2, 'health', Kind.string],
  [3, 'topology', () => TopologyInfo],
]);

export interface PreStartContainerRequest {
  readonly devicesIds: readonly string[];
}
export const PreStartContainerRequest: MessageType<PreStartContainerRequest> = message('v1beta1.PreStartContainerRequest', () => ({ devicesIds: NO_ITEMS }), [
  [1, 'devicesIds', Kind.string, Shape.list],
]);

export interface PreferredAllocationRequest {
  readonly containerRequests: readonly ContainerPreferredAllocationRequest[];
}
export const PreferredAllocationRequest: MessageType<PreferredAllocationRequest> = message('v1beta1.PreferredAllocationRequest', () => ({ containerRequests: NO_ITEMS }), [
  [1, 'containerRequests', () => ContainerPreferredAllocationRequest, Shape.list],
]);

export interface ContainerPreferredAllocationRequest {
  readonly availableDeviceIDs: readonly string[];
  readonly mustIncludeDeviceIDs: readonly string[];
  readonly allocationSize: number;
}
export const ContainerPreferredAllocationRequest: MessageType<ContainerPreferredAllocationRequest> = message('v1beta1.ContainerPreferredAllocationRequest', () => ({ availableDeviceIDs: NO_ITEMS, mustIncludeDeviceIDs: NO_ITEMS, allocationSize: 0 }), [
  [1, 'availableDeviceIDs', Kind.string, Shape.list],
  [2, 'mustIncludeDeviceIDs', Kind.string, Shape.list],
  [3, 'allocationSize', Kind.int32],
]);

export interface PreferredAllocationResponse {
  readonly containerResponses: readonly ContainerPreferredAllocationResponse[];
}
export const PreferredAllocationResponse: MessageType<PreferredAllocationResponse> = message('v1beta1.PreferredAllocationResponse', () => ({ containerResponses: NO_ITEMS }), [
  [1, 'containerResponses', () => ContainerPreferredAllocationResponse, Shape.list],
]);

export interface ContainerPreferredAllocationResponse {
  readonly deviceIDs: readonly string[];
}
export const ContainerPreferredAllocationResponse: MessageType<ContainerPreferredAllocationResponse> = message('v1beta1.ContainerPreferredAllocationResponse', () => ({ deviceIDs: NO_ITEMS }), [
  [1, 'deviceIDs', Kind.string, Shape.list],
]);

export interface AllocateRequest {
  readonly containerRequests: readonly ContainerAllocateRequest[];
}
export const AllocateRequest: MessageType<AllocateRequest> = message('v1beta1.AllocateRequest', () => ({ containerRequests: NO_ITEMS }), [
  [1, 'containerRequests', () => ContainerAllocateRequest, Shape.list],
]);

export interface ContainerAllocateRequest {
  readonly devicesIds: readonly string[];
}
export const ContainerAllocateRequest: MessageType<ContainerAllocateRequest> = message('v1beta1.ContainerAllocateRequest', () => ({ devicesIds: NO_ITEMS }), [
  [1, 'devicesIds', Kind.string, Shape.list],
]);

export interface CDIDevice {
  readonly name: string;
}
export const CDIDevice: MessageType<CDIDevice> = message('v1beta1.CDIDevice', () => ({ name: '' }), [
  [1, 'name', Kind.string],
]);

export interface AllocateResponse {
  readonly containerResponses: readonly ContainerAllocateResponse[];
}
export const AllocateResponse: MessageType<AllocateResponse> = message('v1beta1.AllocateResponse', () => ({ containerResponses: NO_ITEMS }), [
  [1, 'containerResponses', () => ContainerAllocateResponse, Shape.list],
]);

export interface ContainerAllocateResponse {
  readonly envs: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly devices: readonly DeviceSpec[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly cdiDevices: readonly CDIDevice[];
}
export const ContainerAllocateResponse: MessageType<ContainerAllocateResponse> = message('v1beta1.ContainerAllocateResponse', () => ({ envs: NO_ENTRIES, mounts: NO_ITEMS, devices: NO_ITEMS, annotations: NO_ENTRIES, cdiDevices: NO_ITEMS }), [
  [1, 'envs', Kind.string, Shape.map],
  [2, 'mounts', () => Mount, Shape.list],
  [3, 'devices', () => DeviceSpec, Shape.list],
  [4, 'annotations', Kind.string, Shape.map],
  [5, 'cdiDevices', () => CDIDevice, Shape.list],
]);

export interface Mount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly readOnly: boolean;
}
export const Mount: MessageType<Mount> = message('v1beta1.Mount', () => ({ containerPath: '', hostPath: '', readOnly: false }), [
  [1, 'containerPath', Kind.string],
  [2, 'hostPath', Kind.string],
  [3, 'readOnly', Kind.bool],
]);

export interface DeviceSpec {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly permissions: string;
}
export const DeviceSpec: MessageType<DeviceSpec> = message('v1beta1.DeviceSpec', () => ({ containerPath: '', hostPath: '', permissions: '' }), [
  [1, 'containerPath', Kind.string],
  [2, 'hostPath', Kind.string],
  [3, 'permissions', Kind.string],
]);

export interface Empty {}
export const Empty: MessageType<Empty> = message('v1beta1.Empty', () => ({}), []);

export interface PreStartContainerResponse {}
export const PreStartContainerResponse: MessageType<PreStartContainerResponse> = message('v1beta1.PreStartContainerResponse', () => ({}), []);

export const Registration = {
  register: { path: '/v1beta1.Registration/Register', request: RegisterRequest, response: Empty, serverStream: false } satisfies MethodType<RegisterRequest, Empty>,
};

export const DevicePlugin = {
  getDevicePluginOptions: { path: '/v1beta1.DevicePlugin/GetDevicePluginOptions', request: Empty, response: DevicePluginOptions, serverStream: false } satisfies MethodType<Empty, DevicePluginOptions>,
  listAndWatch: { path: '/v1beta1.DevicePlugin/ListAndWatch', request: Empty, response: ListAndWatchResponse, serverStream: true } satisfies MethodType<Empty, ListAndWatchResponse>,
  getPreferredAllocation: { path: '/v1beta1.DevicePlugin/GetPreferredAllocation', request: PreferredAllocationRequest, response: PreferredAllocationResponse, serverStream: false } satisfies MethodType<PreferredAllocationRequest, PreferredAllocationResponse>,
  allocate: { path: '/v1beta1.DevicePlugin/Allocate', request: AllocateRequest, response: AllocateResponse, serverStream: false } satisfies MethodType<AllocateRequest, AllocateResponse>,
  preStartContainer: { path: '/v1beta1.DevicePlugin/PreStartContainer', request: PreStartContainerRequest, response: PreStartContainerResponse, serverStream: false } satisfies MethodType<PreStartContainerRequest, PreStartContainerResponse>,
};
