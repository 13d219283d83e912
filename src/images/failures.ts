/** What went wrong when an image was wanted, in the words that users know from the reference's events. */
import { CodedError, describeError } from '../base/errors.ts';

const GRPC_UNKNOWN = 2;

/** The runtime's own text; what it could not put into a gRPC code comes without the words about gRPC. */
export function runtimeText(error: unknown): string {
  if (!(error instanceof CodedError)) return describeError(error);
  const { grpcStatus, grpcMessage } = error.data;
  return grpcStatus === GRPC_UNKNOWN && typeof grpcMessage === 'string' ? grpcMessage : error.message;
}
