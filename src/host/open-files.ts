import { describeError } from '../base/errors.ts';
import type { Syscalls } from './syscalls.ts';

export interface OpenFilesOutcome {
  /** How many files may be open now. */
  readonly limit: bigint;
  /** Why it is fewer than requested; undefined where the request was met. */
  readonly shortfall: string | undefined;
}

/** Raises the number of files this process may have open to `request`, as far as the hard limit allows and root may raise that. */
export function raiseOpenFiles(
  syscalls: Pick<Syscalls, 'openFilesLimit' | 'setOpenFilesLimit'>,
  request: bigint,
): OpenFilesOutcome {
  const before = syscalls.openFilesLimit();
  try {
    syscalls.setOpenFilesLimit({ soft: request, hard: request });
    return { limit: request, shortfall: undefined };
  } catch (error) {
    if (before.hard >= request) return { limit: before.soft, shortfall: describeError(error) };
    const shortfall = `the hard limit is ${before.hard}: ${describeError(error)}`;
    syscalls.setOpenFilesLimit({ soft: before.hard, hard: before.hard });
    return { limit: before.hard, shortfall };
  }
}
