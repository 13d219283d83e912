// Made from proto/containerd-content-v1.proto by tools/generate-wire.ts. Do not edit.
// containerd's content store: what it downloads now, and which blobs belong to which repository. The part that we use. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ENTRIES, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';
import { Timestamp } from './google-protobuf.ts';

export interface Info {
  readonly digest: string;
  readonly size: number;
  readonly createdAt: Timestamp | undefined;
  readonly updatedAt: Timestamp | undefined;
  readonly labels: Readonly<Record<string, string>>;
}
export const Info: MessageType<Info> = message('containerd.services.content.v1.Info', () => ({ digest: '', size: 0, createdAt: undefined, updatedAt: undefined, labels: NO_ENTRIES }), [
  [1, 'digest', Kind.string],
  [2, 'size', Kind.int64Number],
  [3, 'createdAt', () => Timestamp],
  [4, 'updatedAt', () => Timestamp],
  [5, 'labels', Kind.string, Shape.map],
]);

export interface ListContentRequest {
  readonly filters: readonly string[];
}
export const ListContentRequest: MessageType<ListContentRequest> = message('containerd.services.content.v1.ListContentRequest', () => ({ filters: NO_ITEMS }), [
  [1, 'filters', Kind.string, Shape.list],
]);

export interface ListContentResponse {
  readonly info: readonly Info[];
}
export const ListContentResponse: MessageType<ListContentResponse> = message('containerd.services.content.v1.ListContentResponse', () => ({ info: NO_ITEMS }), [
  [1, 'info', () => Info, Shape.list],
]);

/** One download under way. */
export interface Status {
  readonly startedAt: Timestamp | undefined;
  readonly updatedAt: Timestamp | undefined;
  /** Such as layer-sha256:… for a layer. */
  readonly ref: string;
  readonly offset: number;
  readonly total: number;
  readonly expected: string;
}
export const Status: MessageType<Status> = message('containerd.services.content.v1.Status', () => ({ startedAt: undefined, updatedAt: undefined, ref: '', offset: 0, total: 0, expected: '' }), [
  [1, 'startedAt', () => Timestamp],
  [2, 'updatedAt', () => Timestamp],
  [3, 'ref', Kind.string],
  [4, 'offset', Kind.int64Number],
  [5, 'total', Kind.int64Number],
  [6, 'expected', Kind.string],
]);

export interface ListStatusesRequest {
  readonly filters: readonly string[];
}
export const ListStatusesRequest: MessageType<ListStatusesRequest> = message('containerd.services.content.v1.ListStatusesRequest', () => ({ filters: NO_ITEMS }), [
  [1, 'filters', Kind.string, Shape.list],
]);

export interface ListStatusesResponse {
  readonly statuses: readonly Status[];
}
export const ListStatusesResponse: MessageType<ListStatusesResponse> = message('containerd.services.content.v1.ListStatusesResponse', () => ({ statuses: NO_ITEMS }), [
  [1, 'statuses', () => Status, Shape.list],
]);

export const Content = {
  list: { path: '/containerd.services.content.v1.Content/List', request: ListContentRequest, response: ListContentResponse, serverStream: true } satisfies MethodType<ListContentRequest, ListContentResponse>,
  listStatuses: { path: '/containerd.services.content.v1.Content/ListStatuses', request: ListStatusesRequest, response: ListStatusesResponse, serverStream: false } satisfies MethodType<ListStatusesRequest, ListStatusesResponse>,
};
