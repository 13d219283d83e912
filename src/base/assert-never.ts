/** Ends a `switch` over a union: the compiler proves that no variant was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
