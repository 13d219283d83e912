/** What the API server said about a request that it refused, without what we add for the log. */
import { CodedError, describeError } from '../base/errors.ts';
import type { KubeErrorData } from '../kube/kube.ts';

export function serverWords(error: unknown): string {
  const { status }: KubeErrorData = error instanceof CodedError ? error.data : {};
  return status?.message ?? describeError(error);
}
