// Made from proto/grpc-health-v1.proto by tools/generate-wire.ts. Do not edit.
// Health checking of gRPC servers, v1, served by containers that have a gRPC probe. Facts (names, numbers, types) only; see README.md in this directory for the dialect.
import { Kind, message, type MessageType, type MethodType, type UnknownEnumValue } from '../message.ts';

export const HealthCheckResponseServingStatus = {
  UNKNOWN: 0,
  SERVING: 1,
  NOT_SERVING: 2,
  SERVICE_UNKNOWN: 3,
} as const;
export type HealthCheckResponseServingStatus = (typeof HealthCheckResponseServingStatus)[keyof typeof HealthCheckResponseServingStatus] | UnknownEnumValue;

export interface HealthCheckRequest {
  readonly service: string;
}
export const HealthCheckRequest: MessageType<HealthCheckRequest> = message('grpc.health.v1.HealthCheckRequest', () => ({ service: '' }), [
  [1, 'service', Kind.string],
]);

export interface HealthCheckResponse {
  readonly status: HealthCheckResponseServingStatus;
}
export const HealthCheckResponse: MessageType<HealthCheckResponse> = message('grpc.health.v1.HealthCheckResponse', () => ({ status: 0 }), [
  [1, 'status', HealthCheckResponseServingStatus],
]);

export const Health = {
  check: { path: '/grpc.health.v1.Health/Check', request: HealthCheckRequest, response: HealthCheckResponse, serverStream: false } satisfies MethodType<HealthCheckRequest, HealthCheckResponse>,
};
