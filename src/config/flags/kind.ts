/** Parses the text of a flag. */
export type Kind<T> = {
  /** Shown in the help after the flag's name. */
  readonly label: string;
  /** The meaning of a flag without a value; a kind without it uses the next argument. */
  readonly bare?: string;
  /** The value may be a secret: messages do not show it. */
  readonly secret?: true;
  /** `before` is the result of earlier uses of the same flag: lists and maps grow, everything else is replaced. */
  readonly parse: (text: string, before: T | undefined) => Parsed<T>;
  /** As it would be written on the command line. */
  readonly format: (value: T) => string;
};

/** `keep` leaves the value of the file or the default; `bad` has a text about the allowed values. */
export type Parsed<T> =
  | { readonly is: 'value'; readonly value: T }
  | { readonly is: 'keep' }
  | { readonly is: 'bad'; readonly allowed: string };

export function value<T>(of: T): Parsed<T> {
  return { is: 'value', value: of };
}

export function bad(allowed: string): { readonly is: 'bad'; readonly allowed: string } {
  return { is: 'bad', allowed };
}

export const keep = { is: 'keep' } as const;
