/**
 * Runtimes report many things as "unknown" and leave the rest to the text. This is the one place that reads such text, so
 * that the code above can go by the error's code.
 */
import { CodedError, type ErrorCode } from '../../base/errors.ts';

const UNKNOWN = 2;

const PHRASES: readonly (readonly [RegExp, ErrorCode])[] = [
  // containerd listens before CRI has read its state back.
  [/server is not initialized yet/, 'unavailable'],
  [/no space left on device|disk quota exceeded/, 'exhausted'],
];

export function refineRuntimeError(error: unknown): unknown {
  if (!(error instanceof CodedError) || error.data['grpcStatus'] !== UNKNOWN) return error;
  const code = PHRASES.find(([phrase]) => phrase.test(error.message))?.[1];
  if (code === undefined) return error;
  const data = code === 'unavailable' ? { ...error.data, notReady: true } : error.data;
  return new CodedError(code, error.message, { cause: error.cause, data });
}
