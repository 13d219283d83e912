import { codeOf } from '../base/errors.ts';

/** There was no answer, or the server is unavailable: a new connection may help. A refusal is an answer. */
export function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'unavailable' || code === 'deadline';
}

/** The node's user may not do this: an immediate retry changes nothing. */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'denied' || code === 'unauthenticated';
}
