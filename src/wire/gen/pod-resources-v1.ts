// Made from proto/pod-resources-v1.proto by tools/generate-wire.ts. Do not edit.
// Pod resources v1, served by the kubelet to monitoring agents. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';

export interface AllocatableResourcesResponse {
  readonly devices: readonly ContainerDevices[];
  readonly cpuIds: readonly number[];
  readonly memory: readonly ContainerMemory[];
}
export const AllocatableResourcesResponse: MessageType<AllocatableResourcesResponse> = message('v1.AllocatableResourcesResponse', () => ({ devices: NO_ITEMS, cpuIds: NO_ITEMS, memory: NO_ITEMS }), [
  [1, 'devices', () => ContainerDevices, Shape.list],
  [2, 'cpuIds', Kind.int64Number, Shape.list],
  [3, 'memory', () => ContainerMemory, Shape.list],
]);

export interface ListPodResourcesResponse {
  readonly podResources: readonly PodResources[];
}
export const ListPodResourcesResponse: MessageType<ListPodResourcesResponse> = message('v1.ListPodResourcesResponse', () => ({ podResources: NO_ITEMS }), [
  [1, 'podResources', () => PodResources, Shape.list],
]);

export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly ContainerResources[];
}
export const PodResources: MessageType<PodResources> = message('v1.PodResources', () => ({ name: '', namespace: '', containers: NO_ITEMS }), [
  [1, 'name', Kind.string],
  [2, 'namespace', Kind.string],
  [3, 'containers', () => ContainerResources, Shape.list],
]);

export interface ContainerResources {
  readonly name: string;
  readonly devices: readonly ContainerDevices[];
  readonly cpuIds: readonly number[];
  readonly memory: readonly ContainerMemory[];
  readonly dynamicResources: readonly DynamicResource[];
}
export const ContainerResources: MessageType<ContainerResources> = message('v1.ContainerResources', () => ({ name: '', devices: NO_ITEMS, cpuIds: NO_ITEMS, memory: NO_ITEMS, dynamicResources: NO_ITEMS }), [
  [1, 'name', Kind.string],
  [2, 'devices', () => ContainerDevices, Shape.list],
  [3, 'cpuIds', Kind.int64Number, Shape.list],
  [4, 'memory', () => ContainerMemory, Shape.list],
  [5, 'dynamicResources', () => DynamicResource, Shape.list],
]);

export interface ContainerMemory {
  readonly memoryType: string;
  readonly size: number;
  readonly topology: TopologyInfo | undefined;
}
export const ContainerMemory: MessageType<ContainerMemory> = message('v1.ContainerMemory', () => ({ memoryType: '', size: 0, topology: undefined }), [
  [1, 'memoryType', Kind.string],
  [2, 'size', Kind.uint64Number],
  [3, 'topology', () => TopologyInfo],
]);

export interface ContainerDevices {
  readonly resourceName: string;
  readonly deviceIds: readonly string[];
  readonly topology: TopologyInfo | undefined;
}
export const ContainerDevices: MessageType<ContainerDevices> = message('v1.ContainerDevices', () => ({ resourceName: '', deviceIds: NO_ITEMS, topology: undefined }), [
  [1, 'resourceName', Kind.string],
  [2, 'deviceIds', Kind.string, Shape.list],
  [3, 'topology', () => TopologyInfo],
]);

export interface TopologyInfo {
  readonly nodes: readonly NUMANode[];
}
export const TopologyInfo: MessageType<TopologyInfo> = message('v1.TopologyInfo', () => ({ nodes: NO_ITEMS }), [
  [1, 'nodes', () => NUMANode, Shape.list],
]);

export interface NUMANode {
  readonly id: number;
}
export const NUMANode: MessageType<NUMANode> = message('v1.NUMANode', () => ({ id: 0 }), [
  [1, 'id', Kind.int64Number],
]);

export interface DynamicResource {
  readonly claimName: string;
  readonly claimNamespace: string;
  readonly claimResources: readonly ClaimResource[];
}
export const DynamicResource: MessageType<DynamicResource> = message('v1.DynamicResource', () => ({ claimName: '', claimNamespace: '', claimResources: NO_ITEMS }), [
  [2, 'claimName', Kind.string],
  [3, 'claimNamespace', Kind.string],
  [4, 'claimResources', () => ClaimResource, Shape.list],
]);

export interface ClaimResource {
  readonly cdiDevices: readonly CDIDevice[];
  readonly driverName: string;
  readonly poolName: string;
  readonly deviceName: string;
}
export const ClaimResource: MessageType<ClaimResource> = message('v1.ClaimResource', () => ({ cdiDevices: NO_ITEMS, driverName: '', poolName: '', deviceName: '' }), [
  [1, 'cdiDevices', () => CDIDevice, Shape.list],
  [2, 'driverName', Kind.string],
  [3, 'poolName', Kind.string],
  [4, 'deviceName', Kind.string],
]);

export interface CDIDevice {
  readonly name: string;
}
export const CDIDevice: MessageType<CDIDevice> = message('v1.CDIDevice', () => ({ name: '' }), [
  [1, 'name', Kind.string],
]);

export interface GetPodResourcesRequest {
  readonly podName: string;
  readonly podNamespace: string;
}
export const GetPodResourcesRequest: MessageType<GetPodResourcesRequest> = message('v1.GetPodResourcesRequest', () => ({ podName: '', podNamespace: '' }), [
  [1, 'podName', Kind.string],
  [2, 'podNamespace', Kind.string],
]);

export interface GetPodResourcesResponse {
  readonly podResources: PodResources | undefined;
}
export const GetPodResourcesResponse: MessageType<GetPodResourcesResponse> = message('v1.GetPodResourcesResponse', () => ({ podResources: undefined }), [
  [1, 'podResources', () => PodResources],
]);

export interface ListPodResourcesRequest {}
export const ListPodResourcesRequest: MessageType<ListPodResourcesRequest> = message('v1.ListPodResourcesRequest', () => ({}), []);

export interface AllocatableResourcesRequest {}
export const AllocatableResourcesRequest: MessageType<AllocatableResourcesRequest> = message('v1.AllocatableResourcesRequest', () => ({}), []);

export const PodResourcesLister = {
  list: { path: '/v1.PodResourcesLister/List', request: ListPodResourcesRequest, response: ListPodResourcesResponse, serverStream: false } satisfies MethodType<ListPodResourcesRequest, ListPodResourcesResponse>,
  getAllocatableResources: { path: '/v1.PodResourcesLister/GetAllocatableResources', request: AllocatableResourcesRequest, response: AllocatableResourcesResponse, serverStream: false } satisfies MethodType<AllocatableResourcesRequest, AllocatableResourcesResponse>,
  get: { path: '/v1.PodResourcesLister/Get', request: GetPodResourcesRequest, response: GetPodResourcesResponse, serverStream: false } satisfies MethodType<GetPodResourcesRequest, GetPodResourcesResponse>,
};
