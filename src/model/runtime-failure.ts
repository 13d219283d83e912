/** What a failed call to the container runtime says about the pod. */
import { CodedError, codeOf } from '../base/errors.ts';

/**
 * The call was cut off: it was cancelled, the runtime did not answer, or it is not ready to answer. Nothing is known to be wrong with
 * the pod: no event, no back-off. An answer is a failure, also when it says that something else (a registry) is unavailable.
 */
export function isInterruption(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted) return true;
  return codeOf(error) === 'unavailable' && !isAnswer(error);
}

function isAnswer(error: unknown): boolean {
  return error instanceof CodedError && 'grpcStatus' in error.data && error.data['notReady'] !== true;
}
