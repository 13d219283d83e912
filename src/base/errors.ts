/**
 * Errors are classified where they are thrown: clients of CRI, HTTP, files and mounts map what they see to one of these
 * codes, and the code above them switches on the code, never on the text.
 */
export type ErrorCode =
  | 'invalid' // the input is wrong; trying again changes nothing
  | 'notFound'
  | 'exists'
  | 'conflict' // it was changed meanwhile; read again, then retry
  | 'gone' // the version asked for is no longer kept
  | 'denied' // not allowed
  | 'unauthenticated'
  | 'unavailable' // the other side is away; retry with back-off
  | 'deadline'
  | 'exhausted' // out of disk, memory, descriptors, quota
  | 'unsupported'
  | 'internal';

export class CodedError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { cause?: unknown; data?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'CodedError';
    this.code = code;
    this.data = more.data ?? {};
  }
}

/** The code of an error, looking through its causes; `internal` where no one classified it. */
export function codeOf(error: unknown): ErrorCode {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof CodedError) return e.code;
  }
  return 'internal';
}

/** Whether it was classified where it was thrown, or the system gave it a code; all else is a bug of the program. */
export function isClassified(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof CodedError || ('code' in e && 'syscall' in e)) return true;
  }
  return false;
}

/** The text of anything that was thrown, with its causes, in one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? error.name : error.message;
  return error.cause === undefined ? own : `${own}: ${describeError(error.cause)}`;
}
