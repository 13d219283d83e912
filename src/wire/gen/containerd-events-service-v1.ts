// Made from proto/containerd-events-service-v1.proto by tools/generate-wire.ts. Do not edit.
// containerd's own event service: there on every version, also where CRI has no events. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, NO_ITEMS, Shape, type MessageType, type MethodType } from '../message.ts';
import { Envelope } from './containerd-types.ts';
import { Any, Empty } from './google-protobuf.ts';

export interface PublishRequest {
  readonly topic: string;
  readonly event: Any | undefined;
}
export const PublishRequest: MessageType<PublishRequest> = message('containerd.services.events.v1.PublishRequest', () => ({ topic: '', event: undefined }), [
  [1, 'topic', Kind.string],
  [2, 'event', () => Any],
]);

export interface ForwardRequest {
  readonly envelope: Envelope | undefined;
}
export const ForwardRequest: MessageType<ForwardRequest> = message('containerd.services.events.v1.ForwardRequest', () => ({ envelope: undefined }), [
  [1, 'envelope', () => Envelope],
]);

export interface SubscribeRequest {
  readonly filters: readonly string[];
}
export const SubscribeRequest: MessageType<SubscribeRequest> = message('containerd.services.events.v1.SubscribeRequest', () => ({ filters: NO_ITEMS }), [
  [1, 'filters', Kind.string, Shape.list],
]);

export const Events = {
  publish: { path: '/containerd.services.events.v1.Events/Publish', request: PublishRequest, response: Empty, serverStream: false } satisfies MethodType<PublishRequest, Empty>,
  forward: { path: '/containerd.services.events.v1.Events/Forward', request: ForwardRequest, response: Empty, serverStream: false } satisfies MethodType<ForwardRequest, Empty>,
  subscribe: { path: '/containerd.services.events.v1.Events/Subscribe', request: SubscribeRequest, response: Envelope, serverStream: true } satisfies MethodType<SubscribeRequest, Envelope>,
};
