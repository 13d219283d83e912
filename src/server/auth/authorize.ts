/** Whether a user may use a route. Without a decision, the answer is no. */
import { describeError } from '../../base/errors.ts';
import type { Access, User } from '../routes.ts';
import type { AccessReviews } from './reviews.ts';

export type Verdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly subresources: readonly string[] }
  | { readonly kind: 'unknown'; readonly subresource: string; readonly reason: string };

export type Authorize = (user: User, verb: string, access: Access, signal: AbortSignal) => Promise<Verdict>;

/** Every authenticated user may do everything. */
export const authorizeEverybody: Authorize = async () => ({ kind: 'allowed' });

/** On a node without an API server there are no reviews: only the node's own administrators have access. */
export const authorizeAdministrators: Authorize = async (user, _verb, access) =>
  user.groups.includes(ADMINISTRATORS) ? { kind: 'allowed' } : { kind: 'denied', subresources: subresourcesOf(access) };

export const ADMINISTRATORS = 'system:masters';

export function authorizeByReview(mayUse: AccessReviews): Authorize {
  return async (user, verb, access, signal) => {
    const subresources = subresourcesOf(access);
    for (const subresource of subresources) {
      try {
        if (await mayUse({ user, verb, subresource }, signal)) return { kind: 'allowed' };
      } catch (error) {
        return { kind: 'unknown', subresource, reason: describeError(error) };
      }
    }
    return { kind: 'denied', subresources };
  };
}

export function subresourcesOf({ fineGrained, subresource }: Access): readonly string[] {
  return fineGrained === undefined ? [subresource] : [fineGrained, subresource];
}
