// Made from proto/containerd-types.proto by tools/generate-wire.ts. Do not edit.
// What containerd's event service wraps its events in. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, type MessageType } from '../message.ts';
import { Any, Timestamp } from './google-protobuf.ts';

export interface Envelope {
  readonly timestamp: Timestamp | undefined;
  readonly namespace: string;
  readonly topic: string;
  readonly event: Any | undefined;
}
export const Envelope: MessageType<Envelope> = message('containerd.types.Envelope', () => ({ timestamp: undefined, namespace: '', topic: '', event: undefined }), [
  [1, 'timestamp', () => Timestamp],
  [2, 'namespace', Kind.string],
  [3, 'topic', Kind.string],
  [4, 'event', () => Any],
]);
