import { CodedError, describeError } from '../base/errors.ts';

/** The runtime's own message, without the text that gRPC puts before it. */
export function runtimeMessage(error: unknown): string {
  const message = error instanceof CodedError ? error.data['grpcMessage'] : undefined;
  return typeof message === 'string' && message !== '' ? message : describeError(error);
}
