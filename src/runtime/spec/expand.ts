/** `$(NAME)` in commands, arguments, variables and sub-paths. `$$(NAME)` stays `$(NAME)`; what is unknown stays as it is. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

const OPERATOR = '$';
const OPENER = '(';
const CLOSER = ')';

/**
 * One pass, and no more text than `longest` bytes: a variable that repeats another one doubles it, so twenty of them would make a
 * million characters of one. `lookup` answers undefined for a name that it does not know.
 */
export function expand(text: string, lookup: (name: string) => string | undefined, longest: number): Parsed<string> {
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  let from = 0;
  // Behind the last closer no reference ends, so none is looked for there.
  const lastCloser = text.lastIndexOf(CLOSER);
  // A character takes at least one byte, so this stops in time; the bytes are counted once at the end.
  for (let at = text.indexOf(OPERATOR); at >= 0 && length <= longest; at = text.indexOf(OPERATOR, from)) {
    add(text.slice(from, at));
    const end = text[at + 1] === OPENER && at < lastCloser ? text.indexOf(CLOSER, at) : undefined;
    from = end === undefined ? at + 2 : end + 1;
    const written = text.slice(at, from);
    if (end !== undefined) add(lookup(text.slice(at + 2, end)) ?? written);
    else add(written === '$$' ? OPERATOR : written);
  }
  add(text.slice(from));
  if (length > longest) return tooLong(longest);
  const expanded = parts.join('');
  return byteLength(expanded) > longest ? tooLong(longest) : parsed(expanded);
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function tooLong(longest: number): Parsed<never> {
  return unparsable(`is longer than ${longest} bytes`);
}
