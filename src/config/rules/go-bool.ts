const texts: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/** Parses a boolean like Go programs; undefined for any other text. */
export function parseGoBool(text: string): boolean | undefined {
  return texts.get(text);
}
