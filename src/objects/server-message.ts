/** The API server's own message about a request that it refused, without our additions for the log. */
import { CodedError, describeError } from '../base/errors.ts';
import type { KubeErrorData } from '../kube/kube.ts';

export function serverMessage(error: unknown): string {
  const { status }: KubeErrorData = error instanceof CodedError ? error.data : {};
  return status?.message ?? describeError(error);
}
