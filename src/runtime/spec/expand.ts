/** `$(NAME)` in commands, arguments, variables and sub-paths. `$$(NAME)` stays `$(NAME)`; what is unknown stays as it is. */
const REFERENCE = /\$(?:\$|\(([^)]*)\))/g;

/** `lookup` answers undefined for a name that it does not know. */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(REFERENCE, (matched, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? matched),
  );
}
