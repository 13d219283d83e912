/** The kernel's name of a failed call (`ENOENT`): of one of Node's errors, or of a coded error that keeps it in `data.name`. */
export function errnoName(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('data' in error && typeof error.data === 'object' && error.data !== null && 'name' in error.data) {
    return String(error.data.name);
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a call failed with one of these errors. */
export function hasErrno(error: unknown, ...names: readonly string[]): boolean {
  return names.includes(errnoName(error) ?? '');
}

/** There is nothing with that name. */
export function isMissing(error: unknown): boolean {
  return hasErrno(error, 'ENOENT');
}

/** There is nothing with that name, and there cannot be: a part of the path may be a file. */
export function isPathMissing(error: unknown): boolean {
  return hasErrno(error, 'ENOENT', 'ENOTDIR');
}

/** For `catch` of a promise: a missing path gives this value, every other failure is thrown. */
export function ifPathMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isPathMissing(error)) return value;
    throw error;
  };
}
