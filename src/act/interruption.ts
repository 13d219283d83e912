import { CodedError, codeOf, describeError } from '../base/errors.ts';

/** The call did not fail, it was cut off: the kubelet stops or the runtime is away. Nothing is wrong with the pod. */
export function interruptionOf(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || codeOf(error) === 'unavailable';
}

/** What the runtime said, without the words that gRPC puts before it. */
export function runtimeMessage(error: unknown): string {
  const said = error instanceof CodedError ? error.data['grpcMessage'] : undefined;
  return typeof said === 'string' && said !== '' ? said : describeError(error);
}
