/** Why an image could not be made ready, with the texts of the reference's events. */
import { CodedError, describeError } from '../base/errors.ts';

const GRPC_UNKNOWN = 2;

/** The runtime's own text, without the prefix that gRPC adds to errors of unknown code. */
export function runtimeText(error: unknown): string {
  if (!(error instanceof CodedError)) return describeError(error);
  const { grpcStatus, grpcMessage } = error.data;
  return grpcStatus === GRPC_UNKNOWN && typeof grpcMessage === 'string' ? grpcMessage : error.message;
}
