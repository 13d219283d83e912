// Made from proto/pod-resources-v1alpha1.proto by tools/generate-wire.ts. Do not edit.
// Pod resources v1alpha1, which older monitoring agents ask. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';

export interface ListPodResourcesRequest {}
export const ListPodResourcesRequest: MessageType<ListPodResourcesRequest> = message('v1alpha1.ListPodResourcesRequest', () => ({}), []);

export interface ListPodResourcesResponse {
  readonly podResources: readonly PodResources[];
}
export const ListPodResourcesResponse: MessageType<ListPodResourcesResponse> = message('v1alpha1.ListPodResourcesResponse', () => ({ podResources: NO_ITEMS }), [
  [1, 'podResources', () => PodResources, Shape.list],
]);

export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly ContainerResources[];
}
export const PodResources: MessageType<PodResources> = message('v1alpha1.PodResources', () => ({ name: '', namespace: '', containers: NO_ITEMS }), [
  [1, 'name', Kind.string],
  [2, 'namespace', Kind.string],
  [3, 'containers', () => ContainerResources, Shape.list],
]);

export interface ContainerResources {
  readonly name: string;
  readonly devices: readonly ContainerDevices[];
}
export const ContainerResources: MessageType<ContainerResources> = message('v1alpha1.ContainerResources', () => ({ name: '', devices: NO_ITEMS }), [
  [1, 'name', Kind.string],
  [2, 'devices', () => ContainerDevices, Shape.list],
]);

export interface ContainerDevices {
  readonly resourceName: string;
  readonly deviceIds: readonly string[];
}
export const ContainerDevices: MessageType<ContainerDevices> = message('v1alpha1.ContainerDevices', () => ({ resourceName: '', deviceIds: NO_ITEMS }), [
  [1, 'resourceName', Kind.string],
  [2, 'deviceIds', Kind.string, Shape.list],
]);

export const PodResourcesLister = {
  list: { path: '/v1alpha1.PodResourcesLister/List', request: ListPodResourcesRequest, response: ListPodResourcesResponse, serverStream: false } satisfies MethodType<ListPodResourcesRequest, ListPodResourcesResponse>,
};
