/** What a write that failed means for the next one. */
import { CodedError, type ErrorCode } from '../../base/errors.ts';

/**
 * `replaced`: the object is not there any more, or is another pod's. `away`: the API server can't be reached, by no one. `busy`: it
 * answered that it can't now. `refused`: it won't, and soon won't either.
 */
export type WriteFailure = 'replaced' | 'away' | 'busy' | 'refused';

export function judgeFailure(error: unknown): WriteFailure {
  const coded = codedOf(error);
  if (coded === undefined) return 'refused';
  return judge(coded.code, coded.data['httpStatus'] !== undefined);
}

function judge(code: ErrorCode, answered: boolean): WriteFailure {
  switch (code) {
    case 'notFound':
      return 'replaced';
    case 'unavailable':
    case 'deadline':
      return answered ? 'busy' : 'away';
    // Somebody else wrote at the same time, or the name is another pod's by now: then the watch tells it soon.
    case 'conflict':
      return 'busy';
    default:
      return 'refused';
  }
}

function codedOf(error: unknown): CodedError | undefined {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof CodedError) return e;
  return undefined;
}
