/** What a failed write means for the next one. */
import { CodedError, type ErrorCode } from '../../base/errors.ts';

/**
 * `replaced`: the object is gone, or belongs to another pod. `away`: the API server can't be reached. `busy`: it answered that it
 * can't do it now. `refused`: it rejected the write, and will reject it again.
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
    // Another client wrote at the same time, or the name belongs to another pod by now: then the watch delivers it soon.
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
