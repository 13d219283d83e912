/**
 * Quoting as programs that read kubelet logs expect it: strings in Go's escaped form, everything else as JSON with the
 * characters escaped that Go escapes.
 */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const PRINTABLE = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

export function quoteText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const char of text.toWellFormed())
    quoted += SHORT_ESCAPES[char] ?? (PRINTABLE.test(char) ? char : escaped(char));
  return `${quoted}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

const JSON_ESCAPED = /[<>&\u2028\u2029]/g;

/** JSON of any value; what JSON can't hold becomes text that says so, since a log call must never throw. */
export function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => plain(inner)) ?? 'null';
    return text.replace(JSON_ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  } catch (error) {
    return quoteText(`<internal error: ${error instanceof Error ? error.message : String(error)}>`);
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}
