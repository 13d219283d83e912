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

const LONGEST_SHOWN = 200;

/** Quoted for a message, which must not grow with what a stranger wrote. */
export function shorten(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
}
