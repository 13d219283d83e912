/** How the text after a flag becomes a value. */
export type Kind<T> = {
  /** Shown in the help after the flag's name. */
  readonly label: string;
  /** The text that a flag without a value stands for; a kind without it takes the next word. */
  readonly bare?: string;
  /** What is written may be a secret: no message repeats it. */
  readonly secret?: true;
  /** `before` is what earlier uses of the same flag gave: lists and maps grow, everything else is replaced. */
  readonly parse: (text: string, before: T | undefined) => Parsed<T>;
  /** As it would be written on the command line. */
  readonly format: (value: T) => string;
};

/** `keep` leaves what the file or the default says; `bad` says what would have been allowed. */
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
