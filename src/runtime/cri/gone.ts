import { codeOf } from '../../base/errors.ts';

/** The answer, or undefined if the runtime doesn't know the thing (any more): an answer too, not a failure. */
export async function undefinedIfGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === 'notFound') return undefined;
    throw error;
  }
}
