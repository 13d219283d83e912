// Made from proto/google-protobuf.proto by tools/generate-wire.ts. Do not edit.
// The few well-known types that the other files use.
import { Kind, message, NO_BYTES, type MessageType } from '../message.ts';

export interface Any {
  /** The part after the last slash names the message; containerd sends it without any slash. */
  readonly typeUrl: string;
  readonly value: Uint8Array;
}
export const Any: MessageType<Any> = message('google.protobuf.Any', () => ({ typeUrl: '', value: NO_BYTES }), [
  [1, 'typeUrl', Kind.string],
  [2, 'value', Kind.bytes],
]);

export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}
export const Timestamp: MessageType<Timestamp> = message('google.protobuf.Timestamp', () => ({ seconds: 0, nanos: 0 }), [
  [1, 'seconds', Kind.int64Number],
  [2, 'nanos', Kind.int32],
]);

export interface Empty {}
export const Empty: MessageType<Empty> = message('google.protobuf.Empty', () => ({}), []);
