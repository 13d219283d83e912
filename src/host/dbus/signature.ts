/** Signatures of D-Bus: the types of a message's values as text, such as `sa(sv)`. */
import { CodedError } from '../../base/errors.ts';

/** The specification's own bounds. */
const LONGEST_SIGNATURE = 255;
const DEEPEST_NESTING = 32;
const BASIC = 'ybnqiuxtdsogh';

/** One complete type: a basic type, `v`, or a container with what it holds. */
export interface DBusType {
  readonly code: string;
  /** The element of an array, the members of a struct, key and value of a dictionary's entry. */
  readonly inner: readonly DBusType[];
}

export function parseSignature(text: string): readonly DBusType[] {
  if (text.length > LONGEST_SIGNATURE) throw invalid(text);
  const types: DBusType[] = [];
  for (let at = 0; at < text.length; ) {
    const { type, end } = parseOne(text, at, 0);
    types.push(type);
    at = end;
  }
  return types;
}

function parseOne(text: string, at: number, depth: number): { readonly type: DBusType; readonly end: number } {
  const code = text[at] ?? '';
  if (depth > DEEPEST_NESTING) throw invalid(text);
  if (code === 'v' || (code !== '' && BASIC.includes(code))) return { type: { code, inner: [] }, end: at + 1 };
  if (code === 'a') {
    const { type, end } = parseOne(text, at + 1, depth + 1);
    return { type: { code, inner: [type] }, end };
  }
  const closing = { '(': ')', '{': '}' }[code];
  if (closing === undefined) throw invalid(text);
  const inner: DBusType[] = [];
  let end = at + 1;
  while (text[end] !== closing) {
    const member = parseOne(text, end, depth + 1);
    inner.push(member.type);
    end = member.end;
  }
  if (inner.length === 0 || (code === '{' && inner.length !== 2)) throw invalid(text);
  return { type: { code, inner }, end: end + 1 };
}

/** Where in a message a value of this type may begin: at a multiple of so many bytes. */
export function alignmentOf(code: string): number {
  if ('xtd({'.includes(code)) return 8;
  if ('biuhsoa'.includes(code)) return 4;
  return 'nq'.includes(code) ? 2 : 1;
}

function invalid(text: string): CodedError {
  return new CodedError('invalid', `${JSON.stringify(text)} is not a D-Bus signature`);
}
