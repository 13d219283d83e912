/** Text in the forms that Go programs print: other tools read it, so it must come out the same to the byte. */
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
const JSON_ESCAPED = /[<>&\u2028\u2029]/g;

/** In double quotes, escaped as `%q` does it. */
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

/** JSON text with the characters escaped that Go's encoder escapes beyond what JSON asks for. */
export function escapeJson(json: string): string {
  return json.replace(JSON_ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
