// Made from proto/dra-v1.proto by tools/generate-wire.ts. Do not edit.
// Dynamic resource allocation v1, served by DRA drivers. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ENTRIES, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';

export interface NodePrepareResourcesRequest {
  readonly claims: readonly Claim[];
}
export const NodePrepareResourcesRequest: MessageType<NodePrepareResourcesRequest> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesRequest', () => ({ claims: NO_ITEMS }), [
  [1, 'claims', () => Claim, Shape.list],
]);

export interface NodePrepareResourcesResponse {
  /** Keyed by claim UID. */
  readonly claims: Readonly<Record<string, NodePrepareResourceResponse>>;
}
export const NodePrepareResourcesResponse: MessageType<NodePrepareResourcesResponse> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourcesResponse', () => ({ claims: NO_ENTRIES }), [
  [1, 'claims', () => NodePrepareResourceResponse, Shape.map],
]);

export interface NodePrepareResourceResponse {
  readonly devices: readonly Device[];
  readonly error: string;
}
export const NodePrepareResourceResponse: MessageType<NodePrepareResourceResponse> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse', () => ({ devices: NO_ITEMS, error: '' }), [
  [1, 'devices', () => Device, Shape.list],
  [2, 'error', Kind.string],
]);

export interface Device {
  readonly requestNames: readonly string[];
  readonly poolName: string;
  readonly deviceName: string;
  readonly cdiDeviceIds: readonly string[];
}
export const Device: MessageType<Device> = message('k8s.io.kubelet.pkg.apis.dra.v1.Device', () => ({ requestNames: NO_ITEMS, poolName: '', deviceName: '', cdiDeviceIds: NO_ITEMS }), [
  [1, 'requestNames', Kind.string, Shape.list],
  [2, 'poolName', Kind.string],
  [3, 'deviceName', Kind.string],
  [4, 'cdiDeviceIds', Kind.string, Shape.list],
]);

export interface NodeUnprepareResourcesRequest {
  readonly claims: readonly Claim[];
}
export const NodeUnprepareResourcesRequest: MessageType<NodeUnprepareResourcesRequest> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesRequest', () => ({ claims: NO_ITEMS }), [
  [1, 'claims', () => Claim, Shape.list],
]);

export interface NodeUnprepareResourcesResponse {
  /** Keyed by claim UID. */
  readonly claims: Readonly<Record<string, NodeUnprepareResourceResponse>>;
}
export const NodeUnprepareResourcesResponse: MessageType<NodeUnprepareResourcesResponse> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourcesResponse', () => ({ claims: NO_ENTRIES }), [
  [1, 'claims', () => NodeUnprepareResourceResponse, Shape.map],
]);

export interface NodeUnprepareResourceResponse {
  readonly error: string;
}
export const NodeUnprepareResourceResponse: MessageType<NodeUnprepareResourceResponse> = message('k8s.io.kubelet.pkg.apis.dra.v1.NodeUnprepareResourceResponse', () => ({ error: '' }), [
  [1, 'error', Kind.string],
]);

export interface Claim {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}
export const Claim: MessageType<Claim> = message('k8s.io.kubelet.pkg.apis.dra.v1.Claim', () => ({ namespace: '', uid: '', name: '' }), [
  [1, 'namespace', Kind.string],
  [2, 'uid', Kind.string],
  [3, 'name', Kind.string],
]);

export const DRAPlugin = {
  nodePrepareResources: { path: '/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources', request: NodePrepareResourcesRequest, response: NodePrepareResourcesResponse, serverStream: false } satisfies MethodType<NodePrepareResourcesRequest, NodePrepareResourcesResponse>,
  nodeUnprepareResources: { path: '/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources', request: NodeUnprepareResourcesRequest, response: NodeUnprepareResourcesResponse, serverStream: false } satisfies MethodType<NodeUnprepareResourcesRequest, NodeUnprepareResourcesResponse>,
};
