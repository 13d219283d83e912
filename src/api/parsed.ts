/**
 * The answer of a parser. Bad text is an expected answer, not an exception; `problem` completes a sentence that begins
 * with the name of the field or flag, for example "maxPods: " + problem.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unparsable(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}
