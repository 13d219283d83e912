import { codeOf } from '../base/errors.ts';

/** No answer came, or one that says nothing but "not now": a new connection may help. A refusal is an answer. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'unavailable' || code === 'deadline';
}

/** Who we are is not allowed this: asking again at once changes nothing. */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'denied' || code === 'unauthenticated';
}
